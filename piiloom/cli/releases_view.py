"""The work behind ``piiloom releases list`` and ``show``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from piiloom.cli.columns import in_columns
from piiloom.cli.paging import counted, rest_of_list, say_json_list
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.releasing import HASH_SHOWN, release_json, say_findings
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.corpus.releases.manifest import SplitCounts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import JudgedCount, judged_in_release
from piiloom.corpus.store.releases import (
    ReleaseRow,
    count_members,
    get_release,
    iter_release_records,
    list_releases,
    new_values_of,
    withheld_of,
)

_TITLES = ("release", "version", "records", "splits", "withheld", "of run", "status", "test size", "seed", "sha256")
_GROUPS = ("pairs", "types", "relevance", "locales", "producers")
_SHOWN = 12
_OFF_AT_ZERO = {"validation_size", "folds"}


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
        say("\n".join(in_columns([_TITLES, *map(_cells, lines)], left=(0, 1, 3, 5, 6, 9))))
    if more := rest_of_list(len(releases), len(shown), offset=offset):
        say_aside(more)


def print_release(path: Path, name: str, *, as_json: bool) -> None:
    """Print the release *name* with what its splits hold."""
    with seen_store(path) as (store, sight):
        release = get_release(store, name)
        line, withheld, judged = _to_json(store, release), withheld_of(store, release), judged_in_release(store, name)
        counts = {split: SplitCounts() for split in count_members(store, release)}
        for split, held in counts.items():
            for _ in held.counting(iter_release_records(store, release, split)):
                pass
    if as_json:
        line["splits"] = {split: held.to_json() for split, held in counts.items()}
        line["withheld"] = [{"record": record_id, "reason": reason} for record_id, reason in withheld]
        line["judged"] = [{"kind": one.kind, "judged": one.judged, "disagree": one.disagree, "records": one.records} for one in judged]
        say_json({"store": str(path), "read": sight_to_json(sight), **line})
        return
    _say_settings(release, line["records"], line["new_values"])
    for split, held in counts.items():
        say(f"\n{split}: {counted(held.records, 'record')}, {counted(held.spans, 'span')}")
        for group in _GROUPS:
            say(f"  {group:<9} {_most(getattr(held, group))}")
    _say_left_out(withheld, judged)
    say(f"\n  leaks     piiloom report --release {name}{store_option(path)} measures what the splits share")


def _say_settings(release: ReleaseRow, records: int, new_values: int) -> None:
    run = f"of run {release.run_id}" if release.run_id else "of all runs and imports"
    chosen = f"status {release.status_filter}, test size {release.test_size}, seed {release.seed}"
    say(f"release {release.name} {release.version}: {counted(records, 'record')} {run}, {chosen}")
    say(f"  sha256    {_shown_hash(release)}")
    say(f"  licence   {release.license or 'not stated'}")
    made = f"by piiloom {release.piiloom}, schema version {release.schema_version}" if release.piiloom else "by an earlier piiloom"
    say(f"  frozen    {made}")
    say(f"  splits    {_fields(release.split_settings)}")
    say(f"  filters   {_fields(release.record_choice)}")
    say_findings(release, new_values)


def _fields(settings: Mapping[str, Any]) -> str:
    """Write the settings that say something: "test size 0.1, seed 7, group by keys contexts"."""
    parts = [
        f"{name.replace('_', ' ')} {(' '.join(value) or 'nothing') if isinstance(value, list) else value}"
        for name, value in settings.items()
        if value is not None and (value or name not in _OFF_AT_ZERO)
    ]
    return ", ".join(parts)


def _shown_hash(release: ReleaseRow) -> str:
    return "not kept" if release.content_sha256 is None else release.content_sha256[:HASH_SHOWN]


def _say_left_out(withheld: list[tuple[str, str]], judged: list[JudgedCount]) -> None:
    if withheld:
        say(f"\nwithheld: {counted(len(withheld), 'record')}")
        say(f"  reasons   {_most(Counter(reason for _, reason in withheld))}")
    for one in judged:
        if one.kind == "unlisted":
            say(f"\na trained detector finds {counted(one.disagree, 'value')} outside of spans, in {counted(one.records, 'record')}")
            continue
        what = "question leaks a value" if one.kind == "leak" else "relevance is another"
        values, records = counted(one.judged, "value"), counted(one.records, "record")
        say(f"\njudged for {one.kind}: {values}; for {one.disagree:,} of them, in {records}, the {what}")


def _to_json(store: Store, release: ReleaseRow) -> dict[str, Any]:
    splits = count_members(store, release)
    return {
        **release_json(release),
        "records": sum(splits.values()),
        "splits": splits,
        "withheld": len(withheld_of(store, release)),
        "new_values": len(new_values_of(store, release)),
    }


def _cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    splits = ", ".join(f"{split} {count:,}" for split, count in line["splits"].items())
    figures = (f"{line['records']:,}", splits, f"{line['withheld']:,}")
    chosen = (line["run"] or "all", line["status"], line["test_size"], str(line["seed"]))
    return (line["release"], line["version"], *figures, *chosen, (line["content_sha256"] or "")[:HASH_SHOWN])


def _most(counts: Counter[str]) -> str:
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f", … {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(f"{name} {count:,}" for name, count in found[:_SHOWN]) + more
