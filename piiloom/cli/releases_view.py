"""The work behind ``piiloom releases list`` and ``show``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from piiloom.cli.columns import in_columns
from piiloom.cli.paging import counted, rest_of_list, say_json_list
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.corpus.releases.manifest import SplitCounts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import JudgedCount, judged_in_release
from piiloom.corpus.store.releases import ReleaseRow, count_members, get_release, iter_release_records, list_releases, withheld_of

_TITLES = ("release", "records", "splits", "withheld", "of run", "status", "test size", "seed")
_GROUPS = ("pairs", "types", "relevance", "locales", "producers")
_SHOWN = 12


def print_releases(path: Path, *, limit: int, offset: int, as_json: bool) -> None:
    """Print the releases of the store, newest first."""
    with seen_store(path) as (store, sight):
        releases = list_releases(store)[::-1]
        shown = releases[offset : offset + limit] if limit else releases[offset:]
        lines = [_to_json(store, release) for release in shown]
    if as_json:
        head = {"store": str(path), "read": sight_to_json(sight), "total": len(releases), "offset": offset, "limit": limit}
        say_json_list(head, "releases", lines)
        return
    if not releases:
        say(f"no releases in {path}; piiloom release --name NAME{store_option(path)} makes one")
        return
    if lines:
        say("\n".join(in_columns([_TITLES, *map(_cells, lines)], left=(0, 2, 4, 5))))
    if more := rest_of_list(len(releases), len(shown), offset=offset):
        say_aside(more)


def print_release(path: Path, name: str, *, as_json: bool) -> None:
    """Print the release *name* with what its splits hold."""
    with seen_store(path) as (store, sight):
        release = get_release(store, name)
        line, withheld, judged = _to_json(store, release), withheld_of(store, name), judged_in_release(store, name)
        counts = {split: SplitCounts() for split in count_members(store, name)}
        for split, held in counts.items():
            for _ in held.counting(iter_release_records(store, name, split)):
                pass
    if as_json:
        line["splits"] = {split: held.to_json() for split, held in counts.items()}
        line["withheld"] = [{"record": record_id, "reason": reason} for record_id, reason in withheld]
        line["judged"] = [{"kind": one.kind, "judged": one.judged, "disagree": one.disagree, "records": one.records} for one in judged]
        say_json({"store": str(path), "read": sight_to_json(sight), **line})
        return
    run = f"of run {release.run_id}" if release.run_id else "of all runs and imports"
    chosen = f"status {release.status_filter}, test size {release.test_size}, seed {release.seed}"
    say(f"release {name}: {counted(line['records'], 'record')} {run}, {chosen}")
    for split, held in counts.items():
        say(f"\n{split}: {counted(held.records, 'record')}, {counted(held.spans, 'span')}")
        for group in _GROUPS:
            say(f"  {group:<9} {_most(getattr(held, group))}")
    _say_left_out(withheld, judged)
    say(f"\n  leaks     piiloom report --release {name}{store_option(path)} measures what the splits share")


def _say_left_out(withheld: list[tuple[str, str]], judged: list[JudgedCount]) -> None:
    if withheld:
        say(f"\nwithheld: {counted(len(withheld), 'record')}")
        say(f"  reasons   {_most(Counter(reason for _, reason in withheld))}")
    for one in judged:
        what = "question leaks a value" if one.kind == "leak" else "relevance is another"
        values, records = counted(one.judged, "value"), counted(one.records, "record")
        say(f"\njudged for {one.kind}: {values}; for {one.disagree:,} of them, in {records}, the {what}")


def _to_json(store: Store, release: ReleaseRow) -> dict[str, Any]:
    splits = count_members(store, release.name)
    return {
        "release": release.name,
        "records": sum(splits.values()),
        "splits": splits,
        "withheld": len(withheld_of(store, release.name)),
        "run": release.run_id,
        "status": release.status_filter,
        "test_size": release.test_size,
        "seed": release.seed,
    }


def _cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    splits = ", ".join(f"{split} {count:,}" for split, count in line["splits"].items())
    figures = (f"{line['records']:,}", splits, f"{line['withheld']:,}")
    return (line["release"], *figures, line["run"] or "all", line["status"], line["test_size"], str(line["seed"]))


def _most(counts: Counter[str]) -> str:
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f", … {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(f"{name} {count:,}" for name, count in found[:_SHOWN]) + more
