"""What stands around a candidate: signs that it is code or markup after all, and cues to what was redacted."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from surrogates.mentions import Gender
from surrogates.placeholders.judging import Verdict
from surrogates.placeholders.scanning import Candidate
from surrogates.placeholders.vocabulary_files import LANGUAGES, CueEntry, vocabulary_file

_WIDTH: Final = 48  # characters looked at on each side
_BIRTH_WIDTH: Final = 30
_CODE_AFTER: Final = re.compile(r"\s*(?:[-+*/|&]?=[^>]|\.[A-Za-z_]\w*\s*[(=.]|\[|;|\(|`)")
_LINK_AFTER: Final = re.compile(r"\((?:[a-z]+:|[/#.]|www|\S+\.\S+\))|\[[^\]]*\]|:\s*https?:")
_CHECKBOX: Final = "[ ]"


def is_real(text: str, candidate: Candidate, verdict: Verdict) -> bool:
    """Whether a tag whose words are known is part of code, markup, a link or a heading and so means what it says."""
    name = candidate.grammar.name
    if name == "angle":
        return _in_markup(text, candidate, verdict.markup)
    if name == "square":
        return _in_code(text, candidate, verdict)
    return name in {"double_star", "triple_star"} and _is_heading(text, candidate)


def _in_markup(text: str, candidate: Candidate, element: str) -> bool:
    """Whether the element is closed somewhere, or the tag hangs on a word as in ``List<Name>``."""
    if element and f"</{element}>" in text:
        return True
    before = text[candidate.start - 1 : candidate.start]
    return not candidate.literal.isupper() and (before.isalnum() or before in {"_", "."})


def _in_code(text: str, candidate: Candidate, verdict: Verdict) -> bool:
    """Whether the brackets are an index (``row[name] = 1``), a link, or a ticked box among empty ones."""
    start, end = candidate.start, candidate.end
    if candidate.literal.isupper():
        return verdict.meaning.role == "letter" and _CHECKBOX in text
    before = text[start - 1 : start]
    if before.isalnum() or before in {"_", ")", "]"}:
        return before == "_" or _CODE_AFTER.match(text, end) is not None
    return _LINK_AFTER.match(text, end) is not None


def _is_heading(text: str, candidate: Candidate) -> bool:
    start, end = candidate.start, candidate.end
    line = text.rfind("\n", 0, start) + 1
    return not text[line:start].strip(" #>-") and (end >= len(text) or text[end] in ":\r\n")


class Cue(NamedTuple):
    """What a context tells."""

    kind: str
    form: str
    gender: Gender | None
    sure: float


class Cues:
    """The cues of some languages: what stands right before and right behind a placeholder."""

    def __init__(self, languages: tuple[str, ...] = LANGUAGES) -> None:
        entries: list[CueEntry] = [entry for language in languages for entry in vocabulary_file(language).cues]
        self._cues = [Cue(entry.kind, entry.form, entry.gender, entry.sure) for entry in entries]
        self._before = re.compile("(?:" + "|".join(f"(?P<c{n}>{e.before})" for n, e in enumerate(entries) if e.before) + r")[\s(\"“'*]*$")
        births = [f"(?:{entry.before})" for entry in entries if entry.kind == "birth_date" and entry.before]
        self._birth = re.compile(f"(?:{'|'.join(births)})[\\s(\"“']*$") if births else None
        self._after = re.compile("|".join(rf"(?P<c{n}>(?:{e.after}))" for n, e in enumerate(entries) if e.after))

    def born(self, text: str, start: int) -> bool:
        """Whether what stands before *start* speaks of a birth."""
        return self._birth is not None and self._birth.search(text[max(0, start - _BIRTH_WIDTH) : start]) is not None

    def around(self, text: str, start: int, end: int) -> Cue | None:
        """The cue at ``[start, end)`` of *text*; where both sides tell something, what stands first in the vocabulary."""
        head = text[max(0, start - _WIDTH) : start]
        line = head.rfind("\n")
        before = self._before.search(head, line + 1)
        at = end
        while at < len(text) and text[at] in ' *"”’)' and at < end + 3:
            at += 1
        after = self._after.match(text, end) or (self._after.match(text, at) if at > end else None)
        found = [int(match.lastgroup[1:]) for match in (before, after) if match and match.lastgroup]
        return self._cues[min(found)] if found else None


@cache
def cues(languages: tuple[str, ...] = LANGUAGES) -> Cues:
    """The cues of *languages*, compiled once."""
    return Cues(languages)
