"""Find exact spans for the values that a text should mention, with increasingly tolerant searches.

For each value the steps ("rungs") are tried in this order, and the first that finds it is used:

1. ``mark``: the model wrapped it in a mention mark, with a spelling that ``is_same_spelling`` accepts, or with other endings where the
   language has them;
2. ``exact``: the value occurs in the text as whole words;
3. ``normalised``: it occurs in other typography, composition or case;
4. ``fuzzy``: very similar words occur (never for values with digits).

A value that no step finds is unresolved, with a reason. The stage then asks the model which words mention the value, checks
the reply with ``locate_reply`` and aligns again with the reply as that target's text, or rejects the item. Once a value is
found, every whole-word mention of it, in the spelling found or in its own, becomes a span.

Reasons (stable strings). Unresolved: ``empty`` (blank value), ``broken_mark`` (its mark is damaged and still in the text),
``changed`` (its mark wraps something else), ``inside_word`` (only inside a longer word), ``overlap`` (every mention lies
inside one of a longer value), ``missing``. Dropped marks: ``unknown_id``, ``broken_mark``, ``changed``, ``inside_word``,
``outside`` (offsets outside the text), ``overlap`` (a longer mention was kept).

Offsets are half-open code points of the given text; spans never overlap and never cut a word or a grapheme.

Inline mention marks: ``[[v3|asthma]]`` in a reply means that *asthma* mentions value *v3*.

Marks give a text stage the offsets of mentions without a search, even if the same word mentions two values. They are stripped
before anything is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.corpus.mention_search import (
    QUOTES,
    SearchableText,
    exact_mentions,
    is_inflected,
    is_same_spelling,
    stands_alone,
    without_overlaps,
)
from piiloom.corpus.normalising import stripped, trim
from piiloom.corpus.record import with_parts
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import Range

MARK = re.compile(r"\[\[(v\d+)\|([^\[\]|]*)\]\]")
# Remains of a malformed mark; never acceptable in a finished text.
BROKEN_MARK = re.compile(r"\[\[\s*v\d+|\[\[|\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedMention:
    """A half-open code-point range of a marked text that mentions value ``value_id``."""

    value_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text without marks, and the ranges in it that were marked."""

    text: str
    mentions: tuple[MarkedMention, ...] = ()


def mark(value_id: str, surface: str) -> str:
    """Return *surface* wrapped in a mark for *value_id*."""
    return f"[[{value_id}|{surface}]]"


def strip_marks(marked: str) -> MarkedText:
    """Remove the marks from *marked* and return their ranges in the stripped text; an empty mark gives no mention."""
    pieces: list[str] = []
    mentions: list[MarkedMention] = []
    length = position = 0
    for found in MARK.finditer(marked):
        plain = marked[position : found.start()]
        surface = found.group(2)
        start = length + len(plain)
        pieces += [plain, surface]
        length = start + len(surface)
        if surface:
            mentions.append(MarkedMention(value_id=found.group(1), start=start, end=length))
        position = found.end()
    pieces.append(marked[position:])
    return MarkedText(text="".join(pieces), mentions=tuple(mentions))


def add_marks(text: MarkedText) -> str:
    """Insert the marks again: the inverse of ``strip_marks`` for disjoint mentions in text order."""
    found = ((one.start, one.end, mark(one.value_id, text.text[one.start : one.end])) for one in text.mentions)
    return with_parts(text.text, found)


Rung = Literal["mark", "exact", "normalised", "fuzzy"]
_RUNGS: tuple[Rung, ...] = ("mark", "exact", "normalised", "fuzzy")
_ENCLOSING = f" \t\r\n{QUOTES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentTarget:
    """A value that the text should mention. ``inflects``: a marked mention of it may have other endings (``is_inflected``)."""

    value_id: str
    text: str
    inflects: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A mention of a value, and the search step (``rung``) that found it."""

    value_id: str
    start: int
    end: int
    rung: Rung


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A value without a span, and why."""

    value_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A mark that gave no span, and why; ``value_id`` is None if a damaged mark does not show it."""

    value_id: str | None
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueAlignment:
    """Spans in text order, unresolved values in target order, dropped marks in text order."""

    spans: tuple[Located, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    dropped: tuple[Dropped, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every value has a span and no damaged mark is left in the text."""
        return not self.unresolved and all(d.reason != "broken_mark" for d in self.dropped)


def align(text: str, mentions: Sequence[MarkedMention], targets: Sequence[AlignmentTarget]) -> ValueAlignment:
    """Find every mention of *targets* in *text*, from which the marks (*mentions*) are already stripped.

    Raises ``UsageError`` when two targets share an id.
    """
    known = {target.value_id for target in targets}
    if len(known) != len(targets):
        raise UsageError("two targets share one value id")
    searchable = SearchableText(text)
    broken = tuple(_broken_marks(text))
    damaged = {mark.value_id for mark in broken}
    dropped = [*broken, *(_drop(m, "unknown_id") for m in mentions if m.value_id not in known)]
    candidates: list[Located] = []
    faults: dict[str, str] = {}
    for target in targets:
        marked, rejected = _judge_marks(text, target, [m for m in mentions if m.value_id == target.value_id])
        dropped += rejected
        found = [] if target.value_id in damaged else _climb(searchable, target, marked)
        candidates += found
        if not found:
            faults[target.value_id] = "broken_mark" if target.value_id in damaged else _reason(searchable, target, rejected)
    spans = _without_overlaps(candidates, targets)
    dropped += _overlapped_marks(candidates, spans)
    located = {span.value_id for span in spans}
    unresolved = (Unresolved(value_id=i, reason=faults.get(i, "overlap")) for i in (t.value_id for t in targets) if i not in located)
    return ValueAlignment(
        spans=spans, unresolved=tuple(unresolved), dropped=tuple(sorted(dropped, key=lambda d: (d.start, d.end, d.value_id or "")))
    )


def locate_reply(text: str, reply: str) -> Range | None:
    """Return the range of the first exact whole-word occurrence in *text* of the words that a model replied; None if there is none.

    The reply is tried as it is, then without surrounding quotes, then without surrounding periods too.
    """
    for words in dict.fromkeys((reply.strip(), reply.strip(_ENCLOSING), reply.strip(_ENCLOSING + "."))):
        found = exact_mentions(text, stripped(words))
        if found:
            return found[0]
    return None


def _judge_marks(text: str, target: AlignmentTarget, mentions: Sequence[MarkedMention]) -> tuple[list[Range], list[Dropped]]:
    """Return the ranges (trimmed) of those *mentions* that hold the value of *target*, and the other mentions as dropped."""
    good: list[Range] = []
    bad: list[Dropped] = []
    for mention in mentions:
        if not 0 <= mention.start < mention.end <= len(text):
            bad.append(_drop(mention, "outside"))
            continue
        start, end = trim(text, mention.start, mention.end)
        surface = text[start:end]
        if not surface or not (is_same_spelling(surface, target.text) or (target.inflects and is_inflected(surface, target.text))):
            bad.append(_drop(mention, "changed"))
        elif not stands_alone(text, start, end):
            bad.append(_drop(mention, "inside_word"))
        else:
            good.append((start, end))
    return good, bad


def _climb(searchable: SearchableText, target: AlignmentTarget, marked: Sequence[Range]) -> list[Located]:
    """Return all mentions of *target*, found by the first search step that finds one."""
    value = stripped(target.text)
    if not value:
        return []
    by_range: dict[Range, Rung] = dict.fromkeys(marked, "mark")
    for place in searchable.exact(value):
        by_range.setdefault(place, "exact")
    if not by_range:
        by_range.update(dict.fromkeys(searchable.normalised(value), "normalised"))
    if by_range:
        # Each range contains the folded value once. If the text does not contain it more often, there is no other mention.
        if searchable.count(value) > len(by_range):
            _add_repeats(searchable, value, by_range)
    elif likeness := searchable.fuzzy(value):
        by_range[likeness] = "fuzzy"
        _add_repeats(searchable, value, by_range)
    return [Located(value_id=target.value_id, start=a, end=b, rung=rung) for (a, b), rung in by_range.items()]


def _add_repeats(searchable: SearchableText, value: str, by_range: dict[Range, Rung]) -> None:
    """Add the mentions of the spellings already found, and of *value* itself."""
    surfaces = dict.fromkeys([value, *(searchable.text[start:end] for start, end in by_range)])
    rest: Rung = "fuzzy" if "fuzzy" in by_range.values() else "normalised"
    for surface in surfaces:
        for place in searchable.mentions(surface):
            by_range.setdefault(place, "exact" if searchable.text[place[0] : place[1]] == value else rest)


def _reason(searchable: SearchableText, target: AlignmentTarget, rejected: Sequence[Dropped]) -> str:
    reasons = {mark.reason for mark in rejected}
    if not stripped(target.text):
        return "empty"
    if "changed" in reasons:
        return "changed"
    return "inside_word" if "inside_word" in reasons or searchable.only_touched(target.text) else "missing"


def _without_overlaps(candidates: Sequence[Located], targets: Sequence[AlignmentTarget]) -> tuple[Located, ...]:
    """Keep disjoint candidates: the longest first; of equal lengths the earlier rung, then the earlier place, then the earlier target."""
    rank = {target.value_id: position for position, target in enumerate(targets)}
    best_first = sorted(candidates, key=lambda s: (s.start - s.end, _RUNGS.index(s.rung), s.start, rank[s.value_id]))
    return tuple(without_overlaps(best_first, lambda s: (s.start, s.end))[0])


def _overlapped_marks(candidates: Sequence[Located], spans: Sequence[Located]) -> list[Dropped]:
    kept = set(spans)
    lost = (c for c in candidates if c.rung == "mark" and c not in kept)
    return [Dropped(value_id=c.value_id, start=c.start, end=c.end, reason="overlap") for c in lost]


def _broken_marks(text: str) -> Iterator[Dropped]:
    for found in BROKEN_MARK.finditer(text):
        value_id = found.group().strip("[] \t\r\n") or None
        yield Dropped(value_id=value_id, start=found.start(), end=found.end(), reason="broken_mark")


def _drop(mention: MarkedMention, reason: str) -> Dropped:
    return Dropped(value_id=mention.value_id, start=mention.start, end=mention.end, reason=reason)
