"""Choose the form of the name at each mention of a person, from the placeholder, the original, a title or the register."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cache
from typing import Final, NamedTuple

from piiloom.surrogates.documents import mix
from piiloom.surrogates.known_names import family_told, form_of, has_title, name_parts, name_words
from piiloom.surrogates.persona_assignment.personas import SUBTYPES, Register
from piiloom.surrogates.planning import Plan

_STYLE: Final = 0x30
_WHOLE: Final = frozenset({"middle", "second"})
_BEFORE: Final = 16  # code points before a name within which its title stands
_BLANKS: Final = " \u00a0\n\r\t"
_OPENED: Final = "(\"'“‘"


@cache
def _titles() -> frozenset[str]:
    return frozenset(name_words().titles)


@cache
def _ends() -> frozenset[str]:
    """Return the last three characters of each title (of short ones with the sign before them): most text before a name ends in none."""
    spelled = {form + dot for title in _titles() for form in (title, title.capitalize(), title.upper()) for dot in ("", ".")}
    return frozenset((sign + form)[-3:] for form in spelled.union(name_words().cased) for sign in _BLANKS + _OPENED)


def titled(text: str, start: int) -> bool:
    """Whether a title ("Dr.", "mevrouw") comes right before *start*."""
    if start < 3 or text[start - 1] not in " \u00a0":
        return False
    words = text[max(0, start - _BEFORE) : start].split()
    if not words:
        return False
    last = words[-1].lstrip(_OPENED)
    return last.rstrip(".").lower() in _titles() or last in name_words().cased


def name_styles(plan: Plan, register: Register, seed: int, known: Container[str] = (), language: str = "") -> list[str]:
    """Return the form (a key of ``SUBTYPES``) of each mention of a person, by mention number; "" for others. *known*: folded given names.

    In order of precedence: the form that the mention gives, that of its original, "family" after a title, "née" or "les époux", the
    register's choice.
    """
    styles = [""] * len(plan.mentions)
    text, mentions, of_role, ends = plan.text, plan.mentions, register.of_role, _ends()
    for cluster in plan.clusters:
        turn = 0
        parts: _Parts | None = None
        for number in cluster.places:
            start, _, _, role, index, same, form, _, original, _, _ = mentions[number]
            if form and form in SUBTYPES and not (original and form in _WHOLE):
                style = form
            elif original:
                parts = parts or _Parts.of(plan, cluster.places, language)
                told = titled(text, start) or has_title(original, language)
                style = form_of(original, language) or parts.form(original, titled=told, known=known)
            elif ((start < 4 or text[start - 4 : start - 1] in ends) and titled(text, start)) or family_told(text, start):
                style = "family"
            elif same == "mention" and not index:
                style = register.of_tag(mix(seed, _STYLE + number))
            else:
                style = of_role(role)[turn]
            styles[number] = style
            turn = 1
    return styles


class _Parts(NamedTuple):
    """One person's given and family names (folded), as known from originals of several words. ``often``: mentioned more than once."""

    givens: frozenset[str]
    families: frozenset[str]
    often: bool
    language: str

    @classmethod
    def of(cls, plan: Plan, places: Sequence[int], language: str) -> _Parts:
        """Collect the names from the mentions *places* of one person in a text in *language*."""
        names = [name_parts(original, language) for original in {plan.mentions[number].original for number in places}]
        full = [(given, family) for given, family in names if given != family]
        return cls(
            frozenset(p for given, _ in full for p in given), frozenset(p for _, family in full for p in family), len(places) > 1, language
        )

    def form(self, original: str, *, titled: bool, known: Container[str]) -> str:
        """Return the form of a one-word *original*, "family" or "given": what the person's full names tell, else what a title tells.

        Else a word in *known* is a given name, and so is a person's only name without a title.
        """
        given, _ = name_parts(original, self.language)
        word = given[0] if given else ""
        if word in self.families:
            return "family"
        if word in self.givens:
            return "given"
        return "family" if titled or (word not in known and (self.often or bool(self.families))) else "given"
