"""Find the places to highlight when versions are displayed: spans and words that some other version has differently or lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from piiloom.annotation_app.documents.differences import Difference, compare
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.text_edits import TextEdit, edits_between
from piiloom.foundation.words import Range

# A word may be as long as a line where a script puts no blanks between words.
_LONGEST_WORD = 30


@dataclass(slots=True)
class Differing:
    """The differences of one version from the others: ids of spans, and (start, end) of whole words, in text order.

    An empty range marks a place where another version has additional words. ``lacking`` has the ranges of the context where
    another version has a span and this one has none.
    """

    spans: set[str] = field(default_factory=set)
    context: list[Range] = field(default_factory=list)
    question: list[Range] = field(default_factory=list)
    lacking: list[Range] = field(default_factory=list)


def differing(versions: Mapping[str, Document]) -> dict[str, Differing]:
    """Return, for each of *versions* (by name), where it differs from any other version."""
    found = {name: Differing() for name in versions}
    for one, other in combinations(versions, 2):
        _note(versions[one], versions[other], found[one], found[other])
    for name, own in found.items():
        own.context = _merged(versions[name].context, own.context)
        own.question = _merged(versions[name].question or "", own.question)
        own.lacking = sorted(set(own.lacking))
    return found


def _note(a: Document, b: Document, of_a: Differing, of_b: Differing) -> None:
    lonely: dict[str, list[Mark]] = {"only_left": [], "only_right": []}
    for difference in compare(a, b):
        left, right = difference.left, difference.right
        of_a.spans |= {left.id} if left else set()
        of_b.spans |= {right.id} if right else set()
        if (mark := left or right) is not None and difference.kind in lonely:
            lonely[difference.kind].append(mark)
        elif difference.kind == "text":
            _add(difference, (a.context, of_a.context), (b.context, of_b.context))
        elif difference.kind == "question":
            _add(difference, (a.question or "", of_a.question), (b.question or "", of_b.question))
    of_b.lacking += _places(lonely["only_left"], a, b)
    of_a.lacking += _places(lonely["only_right"], b, a)


def _places(marks: list[Mark], theirs: Document, mine: Document) -> list[Range]:
    """Return the ranges of *marks* of *theirs* in the text of *mine*; marks whose text is gone are left out."""
    edits: list[TextEdit] = edits_between(theirs.context, mine.context) if marks else []
    return [(mark.start, mark.end) for mark in realigned_through(marks, edits)]


def _add(difference: Difference, left: tuple[str, list[Range]], right: tuple[str, list[Range]]) -> None:
    """Add a difference to the ranges of both sides, extended to whole words.

    *left* and *right* are (text, list to extend). Both sides are extended by the same number of letters, so that a word that only
    got longer is highlighted as a whole on both sides.
    """
    if difference.left_range is None or difference.right_range is None:
        return
    sides = ((left[0], difference.left_range), (right[0], difference.right_range))
    before = max(_letters_before(text, start, text[start : start + 1]) for text, (start, _) in sides)
    behind = max(_letters_behind(text, end, text[end - 1 : end] if end else "") for text, (_, end) in sides)
    for (text, (start, end)), ranges in zip(sides, (left[1], right[1]), strict=True):
        ranges.append((max(0, start - before), min(len(text), end + behind)))


def _letters_before(text: str, at: int, behind: str) -> int:
    """Count the letters before *at* that belong to the same word as the character *behind*; at most ``_LONGEST_WORD``."""
    first = at
    while behind.isalnum() and first > 0 and at - first < _LONGEST_WORD and text[first - 1].isalnum():
        first -= 1
    return at - first


def _letters_behind(text: str, at: int, before: str) -> int:
    """Count the letters from *at* on that belong to the same word as the character *before*; at most ``_LONGEST_WORD``."""
    last = at
    while before.isalnum() and last < len(text) and last - at < _LONGEST_WORD and text[last].isalnum():
        last += 1
    return last - at


def _merged(text: str, ranges: Iterable[Range]) -> list[Range]:
    """Sort *ranges*, join those that are separated only by white space, and make ranges of only white space empty."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [(start, end if text[start:end].strip() else start) for start, end in merged]
