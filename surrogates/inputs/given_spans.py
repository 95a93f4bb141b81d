"""Spans that come with a text: the mentions they make, and how they read when the text has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from corpus.formats.placing import keep_disjoint
from surrogates.documents import Filled
from surrogates.inputs.json_walking import Hit, blank_end, key_scanner, walk_object, wanted_tree
from surrogates.inputs.settings import KindOf
from surrogates.mentions import Mention
from surrogates.outputs.offset_map import OffsetMap

TYPE_KEYS: Final = ("type", "entity_type", "label", "entity_group")
_PLACES: Final = wanted_tree(("start", "end", "text"))


class GivenSpans(NamedTuple):
    """``mentions`` are sorted and disjoint; ``dropped`` spans overlapped a longer one (or an earlier one as long)."""

    mentions: tuple[Mention, ...]
    dropped: int


def looks_like_spans(value: Any) -> bool:
    """Whether *value* is a list of objects with start, end and type, and not an empty one."""
    return isinstance(value, list) and bool(value) and all(_is_span(item) for item in value)


def _is_span(item: Any) -> bool:
    return isinstance(item, dict) and type(item.get("start")) is int and type(item.get("end")) is int and _type_of(item) is not None


def _type_of(item: dict[str, Any]) -> str | None:
    return next((item[key] for key in TYPE_KEYS if isinstance(item.get(key), str)), None)


def mentions_of(spans: Any, text: str, kind_of: KindOf) -> GivenSpans:
    """The mentions that *spans* of *text* make. ``ValueError`` says which span is at fault and why, without words of the text."""
    if not isinstance(spans, list):
        raise ValueError("is no list of spans")  # noqa: TRY004 - all faults of spans are reported alike
    for position, span in enumerate(spans):
        _check(span, position, text)
    placed = keep_disjoint(((span["start"], span["end"]), position) for position, span in enumerate(spans))
    mentions = []
    for (start, end), position in placed.kept:
        span = spans[position]
        subtype = span.get("subtype")
        kind = kind_of(_type_of(span) or "", subtype if isinstance(subtype, str) else None)
        value = span.get("value_id")
        index = value if isinstance(value, str) else ""
        mentions.append(Mention(start, end, kind, index=index, original=text[start:end], rule="span"))
    return GivenSpans(tuple(mentions), len(placed.dropped))


def _check(span: Any, position: int, text: str) -> None:
    if not _is_span(span):
        raise ValueError(f"[{position}] needs whole numbers start and end, and a type")
    if not 0 <= span["start"] < span["end"] <= len(text):
        raise ValueError(f"[{position}] is empty or outside the text")
    if isinstance(span.get("text"), str) and span["text"] != text[span["start"] : span["end"]]:
        raise ValueError(f"[{position}].text differs from the text there")


class SpanRewriter:
    """Writes the spans of a row anew: places and words in the new text; an original that stayed there would be a leak."""

    __slots__ = ("_hit",)

    def __init__(self, hit: Hit) -> None:
        self._hit = hit

    def __call__(self, raw: str, filled: Filled, spell: Callable[[str], str]) -> list[tuple[int, int, str]]:
        """(start, end, new JSON) of each number and word that tells of the text, in order."""
        moved = OffsetMap((place.start, place.end, place.new_start, place.new_end) for place in filled.placed)
        changes: list[tuple[int, int, str]] = []
        scan = key_scanner(None)
        at = blank_end(raw, self._hit.start + 1)
        while raw[at] == "{":
            hits, _, at = walk_object(raw, at, _PLACES, scan)
            changes += _changed(hits, moved, filled.text, spell)
            at = blank_end(raw, at)
            if raw[at] == ",":
                at = blank_end(raw, at + 1)
        return changes


def _changed(hits: Sequence[Hit], moved: OffsetMap, text: str, spell: Callable[[str], str]) -> list[tuple[int, int, str]]:
    values = {hit.path: hit.value for hit in hits}
    start, end = moved.to_output(values["start"]), moved.to_output(values["end"], end=True)
    told = {"start": str(start), "end": str(end), "text": f'"{spell(text[start:end])}"'}
    return [(hit.start, hit.end, told[hit.path]) for hit in hits if hit.value is not None]
