"""The work behind ``piiloom records show``: one record in full."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from piiloom.cli.columns import in_columns
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.records_view import head_of, print_texts_of, record_to_json
from piiloom.cli.sample_table import type_colours
from piiloom.cli.terminal import console, say, say_json
from piiloom.cli.tracing import SHORTEST_PREFIX
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.record_search import StoredRecord, find_stored, releases_of
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import StoreError, UsageError
from piiloom.taxonomy.own_types import extended

_TITLES = ("span", "type", "relevance", "subtype", "whose", "value", "place", "text")


def print_record(path: Path, wanted: str, *, as_json: bool) -> None:
    """Print the record that *wanted* (an id, how it begins, or RUN:INDEX) names."""
    with seen_store(path) as (store, sight):
        found = _find(store, wanted)
        releases, taxonomy = releases_of(store, found.record.id, found.run_id), extended(types_of(store))
    if as_json:
        held = [asdict(release) for release in releases]
        say_json({"store": str(path), "read": sight_to_json(sight), "record": record_to_json(found), "releases": held})
        return
    say(head_of(found))
    say("")
    print_texts_of(console(), found, type_colours(taxonomy))
    if found.record.spans:
        say("")
        say("\n".join(in_columns([_TITLES, *_span_cells(found)], left=range(len(_TITLES)))))
    say("")
    for name, value in _facts(found).items():
        say(f"  {name:<9} {value}")
    for release in releases:
        older = "" if release.revision == found.record.revision else f", revision {release.revision}"
        say(f"  release   {release.name}: {release.split}{older}")


def _find(store: Store, wanted: str) -> StoredRecord:
    run, colon, index = wanted.rpartition(":")
    if colon and index.isdecimal():
        found = find_stored(store, run_id=get_run(store, run).id, plan_index=int(index))
        remedy = f"piiloom trace {wanted} shows what became of this item"
    else:
        if len(wanted) < SHORTEST_PREFIX:
            raise UsageError(
                f"{wanted!r} is too short", where="ID", remedy=f"Give {SHORTEST_PREFIX} letters of the id or more, or RUN:INDEX"
            )
        found = find_stored(store, prefix=wanted)
        remedy = "piiloom records list shows the ids"
    if not found:
        raise StoreError(f"there is no record {wanted!r}", where=str(store.path), remedy=remedy)
    if len({(one.record.id, one.run_id) for one in found}) > 1 and not any(one.record.id == wanted for one in found):
        names = ", ".join(f"{one.record.id}{f' of {one.run_id}' if one.run_id else ''}" for one in found[:5])
        raise UsageError(f"{wanted!r} fits several records", where="ID", remedy=f"Name one of {names}{', …' if len(found) > 5 else ''}")
    return next((one for one in found if one.record.id == wanted), found[0])


def _span_cells(found: StoredRecord) -> list[tuple[str, ...]]:
    record = found.record
    return [
        (
            span.id,
            span.entity_type,
            span.relevance or "-",
            span.subtype or "-",
            span.subject or "-",
            span.value_id or "-",
            f"{span.start}-{span.end}",
            " ".join(span.text_in(record.context).split()),
        )
        for span in record.spans
    ]


def _facts(found: StoredRecord) -> dict[str, Any]:
    """What is known of the record beside its texts, by the name of it."""
    record = found.record
    facts: dict[str, Any] = {}
    if record.plan is not None:
        planned = asdict(record.plan)
        planned.pop("pair")
        facts["plan"] = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in planned.items() if value is not None)
    if record.source is not None:
        line = "" if record.source.line is None else f", line {record.source.line}"
        facts["source"] = f"{record.source.file}{line}" + ("" if record.source.id is None else f", there {record.source.id}")
    if record.provenance is not None:
        made = record.provenance
        facts["made by"] = ", ".join(part for part in (made.stage, made.provider, made.model) if part)
    if record.group_keys:
        facts["groups"] = ", ".join(record.group_keys)
    return {name: value for name, value in facts.items() if value}
