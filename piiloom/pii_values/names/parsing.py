"""Split a full name into parts with nameparser, with corrections for names from Bangladesh, India and Pakistan it takes for titles."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from piiloom.foundation.errors import UsageError

# Short forms of the given name Mohammed, which nameparser takes for titles or does not expand.
_SHORTENED: Final = {"md": "Mohammed", "mohd": "Mohammed", "muhd": "Mohammed", "mhd": "Mohammed", "md.": "Mohammed", "mohd.": "Mohammed"}
_FEMALE: Final = frozenset("mrs ms miss lady dame madam mme mlle smt smt. mst mst. sra señora frau mevrouw signora begum".split())
_MALE: Final = frozenset("mr sir lord mister shri sri shree sr señor herr meneer monsieur signor".split())
_HONORIFICS: Final = frozenset("smt smt. mst mst. shri sri shree ch ch. km kum begum hj haji hajah".split())


class Parts(NamedTuple):
    """The parts of a name.

    ``given``: the words of all given names in order. ``gender``: the gender that a title implies ("F", "M"), else None. ``first``: the
    first name as one text ("Abdul Rahman"), without middle names.
    """

    title: str
    given: tuple[str, ...]
    family: str
    suffix: str
    gender: str | None
    first: str


def parted(name: str) -> Parts:
    """Return the parts of *name*, assuming Western order unless there is a comma."""
    human_name = _parser()
    words = name.split()
    titles = []
    while len(words) > 1 and words[0].casefold() in _HONORIFICS:
        titles.append(words.pop(0))
    shortened = _SHORTENED.get(words[0].casefold()) if len(words) > 1 else None
    if shortened is not None:
        words[0] = shortened
    found = human_name(" ".join(words)).as_dict()
    given = (*found["first"].split(), *found["middle"].split())
    title = " ".join([*titles, *found["title"].split()])
    return Parts(title, given, found["last"], found["suffix"], _told(title), found["first"])


def _parser() -> Any:
    try:
        from nameparser import HumanName  # noqa: PLC0415 - optional, needed only here
    except ImportError as error:
        raise UsageError("the package nameparser is not installed", remedy="Run: pip install nameparser") from error
    return HumanName


def _told(title: str) -> str | None:
    words = {word.casefold().rstrip(".") for word in title.split()}
    if words & _FEMALE:
        return "F"
    return "M" if words & _MALE else None
