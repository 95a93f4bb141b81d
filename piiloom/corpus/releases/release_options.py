"""The options of a release: its name, version and licence, the choice of records, and the splits.

The size of a test or validation split is a count ("200"), a fraction ("0.1") or none ("0").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Final, Literal, TypeVar

from pydantic import model_validator

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import TEST, VALIDATION
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Settings, setting, takes_keywords
from piiloom.foundation.words import counted
from piiloom.taxonomy.locales import resolve_locale

BalanceBy = Literal["relevance", "type", "locale"]
# What keeps records together: group keys (story, scenario, persona, document, contrast group …), near-duplicate contexts, near-duplicate
# questions, rare values that they share, and parents that they were derived from.
GroupBy = Literal["keys", "contexts", "questions", "values", "parents"]
GROUP_BY: tuple[GroupBy, ...] = ("keys", "contexts", "questions", "values", "parents")
# What becomes of a value that may not be in two splits: drawn anew in the text, its records moved to the other split, or left out.
OverlapBy = Literal["redraw", "move", "withhold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSettings:
    """How to split. Sizes are counts or fractions (see ``sizes``); with ``folds``, they are not used.

    ``max_value_overlap``: the largest share of the distinct values of open types in a test or validation split that may be in the
    train split, too (of a fold: in any other fold); None sets no limit. ``balance``: see ``balancing``. ``keep_split_of``: the name of
    a release whose records keep their splits.
    """

    test_size: float = 0.1
    validation_size: float = 0
    folds: int = 0
    seed: int = 7
    group_by: tuple[GroupBy, ...] = GROUP_BY
    balance: BalanceBy | None = None
    max_value_overlap: float | None = None
    overlap_by: OverlapBy = "redraw"
    keep_split_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChoice:
    """Which records a release takes. ``status``: "any", or one of the statuses of a record, or "adjudicated".

    ``min_agreement``: the least share of annotators' labels that must be equal. ``judged``: "agree" leaves out records with a value
    that a judge saw otherwise than the plan; "any" takes all.
    """

    status: str = "any"
    run_id: str | None = None
    locale: str | None = None
    min_agreement: float | None = None
    judged: Literal["any", "agree"] = "any"


_REMEDY = "Give a number of records (200), a fraction between 0 and 1 (0.1), or 0 for no such split"


class IndivisibleError(UsageError):
    """There are too few records, or too few groups of them, for a test or validation split beside a train split.

    ``cure``: what makes more groups, where these are too few.
    """

    cure: str = ""


def parse_size(text: str, split: str) -> int | float:
    """Parse the size of *split*: ``"200"`` → 200, ``"0.1"`` → 0.1, ``"0"`` → 0.

    Raises ``UsageError``, which names the split, for anything else, also for 1.0 and 0.0.
    """
    try:
        return _checked(int(text), split)
    except ValueError:
        pass
    try:
        return _checked(float(text), split)
    except ValueError:
        raise UsageError(f"the {split} size is not a number", where=f"{split} size", remedy=_REMEDY) from None


def split_sizes(settings: SplitSettings, records: int) -> dict[str, int]:
    """Return how many of *records* the test and the validation split get, the test split first; a split of size 0 is left out.

    Raises ``UsageError`` if a size is out of range, and ``IndivisibleError`` if both together leave nothing to train on.
    """
    test, validation = records_of_size(settings.test_size, records, TEST), records_of_size(settings.validation_size, records, VALIDATION)
    if test and validation and test + validation >= records:
        raise IndivisibleError(
            f"a test split of {test} and a validation split of {validation} leave nothing to train on: there are "
            f"{counted(records, 'record')}",
            where="split sizes",
            remedy="Ask for fewer",
        )
    return {split: count for split, count in ((TEST, test), (VALIDATION, validation)) if count}


def records_of_size(size: float, records: int, split: str) -> int:
    """Return how many of *records* a split of *size* gets; a fraction is rounded half up and gives at least one.

    Raises ``UsageError`` if the size is negative or a fraction outside (0, 1), and ``IndivisibleError`` if it leaves nothing to train on.
    """
    _checked(size, split)
    count = size if isinstance(size, int) else max(1, math.floor(size * records + 0.5))
    if count and count >= records:
        raise IndivisibleError(
            f"a {split} split of {count} leaves nothing to train on: there are {counted(records, 'record')}",
            where=f"{split} size",
            remedy="Ask for fewer, or for 0",
        )
    return count


def _checked(size: float, split: str) -> int | float:
    if size < 0 or (isinstance(size, float) and not 0.0 < size < 1.0):
        raise UsageError(f"the {split} size is out of range", where=f"{split} size", remedy=_REMEDY)
    return size


T = TypeVar("T", SplitSettings, RecordChoice)

DEFAULT_VERSION = "1.0.0"
ANY_STATUS = "any"
STATUSES = (ANY_STATUS, "validated", "adjudicated", "generated", "imported")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
# The splits of CAPID (section 4.4) and PrivacyAI (section III.C).
PAPERS: Mapping[str, Mapping[str, int | float]] = {
    "capid": {"test_size": 200, "validation_size": 0},
    "privacyai": {"test_size": 0.6, "validation_size": 0.15},
}
_SIZES = {"test_size": TEST, "validation_size": VALIDATION}
_DEFAULTS = SplitSettings()
_SPLITS: Final = "Splits"
_RECORDS: Final = "Which records"
_ALL_RECORDS = RecordChoice()


class ReleaseOptions(Settings):
    """The options of a release. Sizes are a number of records, a fraction or 0."""

    panels: ClassVar[tuple[str, ...]] = (_SPLITS, _RECORDS)

    paper: Literal["capid", "privacyai"] | None = setting(
        None,
        "Splits as a paper publishes them: capid (200 test records), privacyai (25% train, 15% validation for the verifiers, 60% test); "
        "sizes that are given win.",
        panel=_SPLITS,
    )
    version: str = setting(DEFAULT_VERSION, "Version of the release, as its dataset card states it.", metavar="VERSION")
    license: str | None = setting(None, "Licence, best an SPDX identifier; not stated if not given.", metavar="TEXT")
    test_size: int | float | str | None = setting(
        None, "Test split: a number of records, a fraction, or 0 for none (default 0.1).", metavar="SIZE", panel=_SPLITS
    )
    validation_size: int | float | str | None = setting(None, "Validation split, likewise (default 0).", metavar="SIZE", panel=_SPLITS)
    folds: int | None = setting(None, "Number of folds of equal size in the place of these splits.", metavar="N", panel=_SPLITS)
    seed: int = setting(_DEFAULTS.seed, "Same seed and records, same splits.", panel=_SPLITS)
    group_by: str | Sequence[str] = setting(
        "all",
        "Ties that keep records in one split: all, none, or some of keys,contexts,questions,values,parents.",
        metavar="LIST",
        panel=_SPLITS,
    )
    balance: BalanceBy | None = setting(None, "Property by which the splits are balanced by withholding records.", panel=_SPLITS)
    max_value_overlap: float | None = setting(
        None, "Largest share of distinct values of a test split that may also be in train.", metavar="SHARE", panel=_SPLITS
    )
    overlap_by: OverlapBy | None = setting(
        None, "Way to keep that share: values drawn anew (redraw), records moved or withheld.", panel=_SPLITS
    )
    keep_split_of: str | None = setting(
        None,
        "Release whose records stay in their split; new ones follow those they belong with. Its sizes apply unless others are given.",
        metavar="RELEASE",
        panel=_SPLITS,
    )
    status: str = setting(
        ANY_STATUS,
        "Only records of this status. validated: checked by people; adjudicated: people agreed, or one decided between them.",
        kind=Literal["any", "validated", "adjudicated", "generated", "imported"],
        panel=_RECORDS,
    )
    run: str | None = setting(None, 'Only records of this run, by id or "last"; of all runs if not given.', metavar="RUN", panel=_RECORDS)
    locale: str | None = setting(None, "Only records of this locale.", panel=_RECORDS)
    min_agreement: float | None = setting(
        None, "Only records with at least this share of equal labels among annotators.", metavar="SHARE", panel=_RECORDS
    )
    judged: Literal["any", "agree"] = setting("any", "agree: no records with a value that a judge saw otherwise.", panel=_RECORDS)

    @model_validator(mode="before")
    @classmethod
    def _sizes_of_paper(cls, given: Any) -> Any:
        paper = given.get("paper") if isinstance(given, dict) else None
        return {**PAPERS.get(paper, {}), **given} if isinstance(paper, str) else given


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """A release that is asked for. ``license`` is free text, best an SPDX identifier; None: not stated.

    With ``test_if_divisible``, records that cannot be divided are all in the train split, and a note says so.

    Raises ``UsageError`` for an empty name, a version that is none, a licence that has an identifier but is not given by it, an unknown
    status or a share that is not between 0 and 1.
    """

    name: str
    version: str = DEFAULT_VERSION
    license: str | None = None
    split: SplitSettings = _DEFAULTS
    choice: RecordChoice = _ALL_RECORDS
    test_if_divisible: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UsageError("a release needs a name", remedy="Give one with --name")
        if not _VERSION.fullmatch(self.version):
            remedy = "Letters, digits, dots, + and -, for example 1.2.0"
            raise UsageError("this is not a version", where="version", remedy=remedy)
        if self.license is not None:
            _check_license(self.license)
        if self.choice.status not in STATUSES:
            raise UsageError(f"unknown status {self.choice.status!r}", where="status", remedy=f"Known: {', '.join(STATUSES)}")
        for where, share in (("min agreement", self.choice.min_agreement), ("max value overlap", self.split.max_value_overlap)):
            if share is not None and not 0 <= share <= 1:
                raise UsageError("the share is not between 0 and 1", where=where, remedy="Give for example 0.8")


# The identifiers of the Hugging Face Hub, which are those of SPDX in small letters, as far as they are used for data.
_LICENSES = (
    "apache-2.0 mit bsd bsd-2-clause bsd-3-clause isc unlicense wtfpl zlib mpl-2.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 ecl-2.0 afl-3.0 "
    "artistic-2.0 bsl-1.0 osl-3.0 ms-pl gpl gpl-2.0 gpl-3.0 agpl-3.0 lgpl lgpl-2.1 lgpl-3.0 gfdl cc cc0-1.0 cc-by-2.0 cc-by-2.5 "
    "cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 "
    "cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 c-uda "
    "odc-by odbl pddl etalab-2.0 openrail other unknown"
).split()
# Names of licences and words that identifiers shorten or leave out, in this order.
_LICENSE_WORDS = {
    r"public domain dedication": "",
    r"gnu free documentation": "gfdl",
    r"gnu affero general public|affero gpl": "agpl",
    r"gnu lesser general public": "lgpl",
    r"gnu general public": "gpl",
    r"mozilla public": "mpl",
    r"eclipse public": "epl",
    r"european union public": "eupl",
    r"creative commons zero": "cc0",
    r"creative commons": "cc",
    r"cc zero": "cc0",
    r"attribution": "by",
    r"non commercial": "nc",
    r"noncommercial": "nc",
    r"share alike": "sa",
    r"sharealike": "sa",
    r"no deriv(?:ative)?s?(?: works)?|noderiv(?:ative)?s?": "nd",
    r"open data commons open database": "odbl",
    r"open data commons attribution": "odc by",
    r"(\d) clause bsd|bsd (\d)(?: clause)?": r"bsd \1\2 clause",
    r"\b(?:the|gnu|licen[cs]ed?|public|software|foundation|international|unported|generic|universal|version|under|data)\b": "",
    r"\bv(?:er)?\.? ?(?=\d)": "",
    r"pl(?=\d)|pl ?v(?=\d)": "pl",
}


def _check_license(told: str) -> None:
    """Raise ``UsageError`` if *told* is not one line of text, or is another spelling of an identifier, with that as the remedy."""
    if told.lower() in _LICENSES:
        return
    key, version = _license_key(told)
    near = [one for one in _LICENSES if _license_key(one)[0] == key and (not version or _license_key(one)[1] == version)]
    if key and near:
        what = "a licence that has an identifier is known by it only if it is written so"
        raise UsageError(what, where="license", remedy=f"Did you mean {near[-1]}? Other licences may have any name")
    if not (told.strip() and told.isprintable()):
        raise UsageError("a licence is one line of text", where="license", remedy="Give its SPDX identifier, for example CC-BY-4.0")


def _license_key(name: str) -> tuple[str, str]:
    """Return the letters of the shortened *name*, and its version ("4" and "4.0" are the same)."""
    text = " ".join(re.sub(r"[^\w.]+|_", " ", unicodedata.normalize("NFKC", name).casefold()).split())
    for words, short in _LICENSE_WORDS.items():
        text = re.sub(words, short, text)
    text = re.sub(r"[^a-z0-9.]", "", text)
    found = re.fullmatch(r"(cc0|(?:bsd\d)?[a-z.]*?)\.?(\d+(?:\.\d+)*)?", text)
    return ("", "") if found is None else (found[1], re.sub(r"(?:\.0)+$", "", found[2] or ""))


@takes_keywords(ReleaseOptions)
def requested(name: str, asked: ReleaseOptions) -> ReleaseRequest:
    """Return the request of *asked*. Raises ``UsageError`` for options that contradict each other, or a value out of range."""
    given = {option: value for option, value in asked.given().items() if value is not None}
    choice = _picked(given, RecordChoice, run_id="run")
    if choice.locale is not None:
        choice = replace(choice, locale=resolve_locale(choice.locale))
    return ReleaseRequest(
        name=name,
        version=asked.version,
        license=asked.license,
        split=_split_settings(given),
        choice=choice,
        test_if_divisible=not given.keys() & {"test_size", "validation_size", "folds"},
    )


def _split_settings(given: dict[str, Any]) -> SplitSettings:
    folds = given.get("folds", 0)
    if folds < 0 or folds == 1:
        raise UsageError("there must be at least two folds", where="folds", remedy="Give 2 or more, or 0 for train and test splits")
    if "overlap_by" in given and "max_value_overlap" not in given:
        what = "there is no limit on shared values to keep"
        raise UsageError(what, where="overlap by", remedy="Set one with --max-value-overlap, or leave this out")
    if given.get("keep_split_of") is not None and given.get("overlap_by") == "move":
        remedy = "Use redraw or withhold, or leave out --keep-split-of"
        raise UsageError("records that keep their split cannot be moved to another", where="overlap by", remedy=remedy)
    sizes = {size: parse_size(str(given[size]), split) for size, split in _SIZES.items() if size in given}
    if folds and sizes:
        named = next(iter(sizes)).replace("_", " ")
        raise UsageError(f"folds and a {named} exclude each other", where="folds", remedy="Give one of them")
    if folds:
        sizes = {"test_size": 0}
    group_by = given.get("group_by", GROUP_BY)
    grouping = parse_group_by(group_by if isinstance(group_by, str) else ",".join(group_by) or "none")
    return replace(_picked(given | sizes, SplitSettings), group_by=grouping)


def _picked(given: dict[str, Any], settings: type[T], **renamed: str) -> T:
    """Return *settings* with those of *given* that are its fields; *renamed*: field → option."""
    names = {field.name: renamed.get(field.name, field.name) for field in fields(settings)}
    return settings(**{field: given[option] for field, option in names.items() if option in given})


def parse_group_by(text: str) -> tuple[GroupBy, ...]:
    """Parse ``"all"``, ``"none"``, or a list as ``"keys,values"``; raises ``UsageError`` for anything else."""
    if text in {"all", "none"}:
        return GROUP_BY if text == "all" else ()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in GROUP_BY:
            remedy = f"Give all, none, or some of {', '.join(GROUP_BY)}, separated by commas"
            raise UsageError(f"records cannot be grouped by {name!r}", where="group by", remedy=remedy)
    return tuple(name for name in GROUP_BY if name in names)


def settings_json(settings: SplitSettings | RecordChoice) -> Json:
    """Return the fields as JSON values, as a release keeps them; ``keep_split_of`` only if it names a release."""
    held: dict[str, Any] = asdict(settings)
    kept = {name: value for name, value in held.items() if name != "keep_split_of" or value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
