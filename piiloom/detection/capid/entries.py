"""Read what a model lists: taken in any spelling of the form that was asked for, held against what is known strictly.

Asked for is a list of ``{"value", "type", "relevance"}``. Also read are objects one after another, a list within an object, and objects
whose keys are the values, as in CAPID's files: ``{"asthma": {"type": "health", "relevance": "1"}}`` or ``{"asthma": "health"}``. A key that
repeats in such an object is an entry each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from piiloom.corpus.record import Relevance
from piiloom.detection.findings import SetAside
from piiloom.execution.calls import Fault
from piiloom.foundation.lenient_json import JsonObject, LenientJson, read_leniently
from piiloom.taxonomy.entity_types import Taxonomy

PHASE: Final = 0  # of a detector without phases
_VALUE: Final = ("value", "text", "mention", "span", "pii")
_TYPE: Final = ("type", "entity_type", "label", "category")
_RELEVANCE: Final = ("relevance", "relevant")
_HIGH: Final = frozenset(("high", "1", "1.0", "true", "yes", "relevant", "h"))
_LOW: Final = frozenset(("low", "0", "0.0", "false", "no", "irrelevant", "not relevant", "l"))
LISTED: Final = "it has no JSON list of objects with a value and a type; if there are no mentions, answer []"
KEYED: Final = "it has no JSON object with a type and a relevance for each value; if there are no values, answer {}"
_SHOWN: Final = 60  # characters of a word that is no type


class ListedEntry(NamedTuple):
    """The model says that the text has *value*, and what it is. ``relevance`` is None without a question, or if it is not told."""

    value: str
    entity_type: str
    relevance: Relevance | None


class ListedEntries(NamedTuple):
    """The entries of a reply in its order, and what of it is not usable. ``cut_off``: the reply ended before its list did."""

    entries: list[ListedEntry]
    refused: list[SetAside]
    cut_off: bool


def read_entries(reply: str, taxonomy: Taxonomy, *, relevance: bool, wanted: str = LISTED) -> ListedEntries:
    """Return the entries of *reply*; with *relevance*, each should have one. *wanted* is the fault of a reply without a list.

    An entry without a usable relevance stays an entry, and is told as "unknown_relevance". Others are refused: "empty", "unknown_type",
    "no_entry" (something else stands in the list). Raises ``Fault`` if there is no list, or if it ends before its first entry.
    """
    read = read_leniently(reply)
    judged = [_judged(one, taxonomy, relevance=relevance) for one in _entries_in(read)]
    if not judged and (read.cut_off or not any(_is_empty(one) for one in read.values)):
        raise Fault("no_list", wanted)
    entries = [one for one in judged if isinstance(one, ListedEntry)]
    refused = [one for one in judged if isinstance(one, SetAside)] + [_refused("no_entry")] * read.broken
    if not entries and any(one.reason == "no_entry" for one in refused):
        raise Fault("no_list", wanted)
    if relevance:
        refused += [_refused("unknown_relevance", one.value, one.entity_type) for one in entries if one.relevance is None]
    return ListedEntries(entries, refused, read.cut_off)


def _entries_in(read: LenientJson) -> Iterator[Any]:
    """Yield what stands where entries should: in the last list that has any, or one after another."""
    lists = [found for one in read.values if (found := _list_in(one)) is not None and any(isinstance(entry, dict) for entry in found)]
    if lists:
        yield from lists[-1]
    else:
        yield from (one for one in read.values if isinstance(one, dict) and _list_in(one) is None)


def _is_empty(value: Any) -> bool:
    found = _list_in(value)
    return found is not None and not found


def _list_in(value: Any) -> list[Any] | None:
    """The list that *value* is, has as its only container, or amounts to; None for a bare entry or something else."""
    if isinstance(value, list):
        return value
    if not isinstance(value, JsonObject) or isinstance(_first(value, _VALUE), str | int | float):
        return None
    held = [one for _, one in value.pairs if isinstance(one, list | dict)]
    if not value:
        return []
    if all(isinstance(one, str) or _is_described(one) for _, one in value.pairs):
        return [_keyed(key, each) for key, one in value.pairs for each in (one if isinstance(one, list) else [one])]
    return _list_in(held[0]) if len(held) == 1 else None


def _is_described(value: Any) -> bool:
    """Whether *value* says of what kind something is that its key names; a list says of what kinds."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and _is_described(one) for one in value)
    return isinstance(value, dict) and _first(value, _TYPE) is not None and _first(value, _VALUE) is None


def _keyed(value: str, told: Any) -> dict[str, Any]:
    return {"value": value, "type": told} if isinstance(told, str) else {**told, "value": value}


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def _judged(said: Any, taxonomy: Taxonomy, *, relevance: bool) -> ListedEntry | SetAside:
    if not isinstance(said, dict):
        return _refused("no_entry")
    value, kind = _first(said, _VALUE), _first(said, _TYPE)
    shown = str(kind)[:_SHOWN] if isinstance(kind, str) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return _refused("no_entry", subtype=shown)
    if not value.strip():
        return _refused("empty", subtype=shown)
    known = taxonomy.resolve(kind) if isinstance(kind, str) else None
    if known is None:
        return _refused("unknown_type", value, shown)
    return ListedEntry(value, known, _relevance(_first(said, _RELEVANCE)) if relevance else None)


def _relevance(said: Any) -> Relevance | None:
    word = str(said).strip().lower()
    return "high" if word in _HIGH else "low" if word in _LOW else None


def _refused(reason: str, value: str = "", subtype: str | None = None) -> SetAside:
    return SetAside(phase=PHASE, reason=reason, subtype=subtype, value=value)
