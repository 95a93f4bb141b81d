"""``piiloom releases``: the releases of a store: listed, shown, compared, deleted. ``piiloom release`` makes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.paging import LimitOption, OffsetOption, confirmed_deletion, in_columns, rest_of_list, say_json_list
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.release import HASH_SHOWN, release_json, say_findings
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import examples, harmless, say, say_aside, say_json
from piiloom.corpus.formats.base import quoted
from piiloom.corpus.releases.comparing import RecordChange, ReleaseDiff, compare_releases
from piiloom.corpus.releases.manifest import SplitCounts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import delete_release
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
from piiloom.foundation.counting import counted

_LIST = ("piiloom releases list", "piiloom releases list --json")
_SHOW = ("piiloom releases show v1", "piiloom releases show v1 --json")
_DIFF = ("piiloom releases diff v1 v2", "piiloom releases diff v1 v2 --limit 0", "piiloom releases diff v1 v2 --json")
_DELETE = ("piiloom releases delete v1", "piiloom releases delete v1 --yes --json")

releases_app = typer.Typer(
    help="List, show, compare and delete the releases of a store.",
    epilog=examples(*_LIST, *_SHOW, *_DIFF, *_DELETE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The release; piiloom releases list names them.")]


@releases_app.command("list", epilog=examples(*_LIST))
def list_all(store: StoreOption = DEFAULT_STORE, limit: LimitOption = 20, offset: OffsetOption = 0, as_json: JsonOption = False) -> None:
    """List releases, newest first, with the sizes of their splits."""
    print_releases(store, limit=limit, offset=offset, as_json=as_json)


@releases_app.command("show", epilog=examples(*_SHOW))
def show(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show one release: its version and hash, how it was chosen, what its splits hold by pair, type and relevance, what it withholds.

    What its splits share, and what judges said of its records, is told, too. piiloom report --release measures more.
    """
    print_release(store, name, as_json=as_json)


@releases_app.command("diff", epilog=examples(*_DIFF))
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="The earlier release.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The later release.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Name this many records of each kind; 0 names all.")] = 10,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Tell what leads from release A to release B: settings, records, splits, labels and texts.

    Records are compared by their ids. With --json all are listed.
    """
    print_diff(store, before, after, limit=limit, as_json=as_json)


@releases_app.command("delete", epilog=examples(*_DELETE))
def delete(
    name: _Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete a release from the store; its records stay, and so does what was exported of it.

    The same records, seed and sizes give the same release again.
    """
    if not delete_release_and_report(store, name, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)


def print_diff(path: Path, before: str, after: str, *, limit: int, as_json: bool) -> None:
    """Print what leads from release *before* to release *after*, naming *limit* records of each kind (0: all)."""
    with seen_store(path) as (store, sight):
        diff = compare_releases(store, before, after)
    if as_json:
        say_json({"store": str(path), "read": sight_to_json(sight), **diff.to_json()})
        return
    say(f"from release {before} to release {after}: {_summary(diff)}")
    for name, one, other in diff.settings:
        say(f"  setting   {name.replace('_', ' ')}: {_said(one)} → {_said(other)}")
    _say_first("added", [f"{record_id} ({split})" for record_id, split in diff.added], limit)
    _say_first("removed", [f"{record_id} ({split})" for record_id, split in diff.removed], limit)
    _say_first("moved", [f"{record_id} ({one} → {other})" for record_id, one, other in diff.moved], limit)
    _say_first("changed", [f"{one.record_id}: {'; '.join(_differences(one))}" for one in diff.changed], limit)


def _summary(diff: ReleaseDiff) -> str:
    if diff.same_content:
        return "the same content"
    parts = [
        f"{count:,} {what}"
        for what, count in (
            ("added", len(diff.added)),
            ("removed", len(diff.removed)),
            ("moved", len(diff.moved)),
            ("changed", len(diff.changed)),
        )
    ]
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in diff.kinds().items())
    return ", ".join(parts) + (f" ({kinds})" if kinds else "")


def _say_first(what: str, lines: Sequence[str], limit: int) -> None:
    if not lines:
        return
    say(f"\n{what}: {counted(len(lines), 'record')}")
    shown = lines[:limit] if limit else lines
    for line in shown:
        say(f"  {harmless(line)}")
    if len(shown) < len(lines):
        say(f"  … {len(lines) - len(shown):,} more (--limit 0 names all)")


def _differences(change: RecordChange) -> Iterator[str]:
    if change.context:
        yield "another context"
    if change.question:
        yield "another question"
    for label in change.labels:
        yield " ".join([label.kind, " → ".join(quoted(text) for text in (label.before, label.after) if text is not None)])


def _said(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


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
    splits = count_members(store, release.name)
    return {
        **release_json(release),
        "records": sum(splits.values()),
        "splits": splits,
        "withheld": len(withheld_of(store, release.name)),
        "new_values": len(new_values_of(store, release.name)),
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


def delete_release_and_report(path: Path, name: str, *, confirmed: bool, as_json: bool) -> bool:
    """Delete the release *name*; False when that was not confirmed."""
    with Store.open(path, create=False) as store:
        splits, withheld = count_members(store, name), len(withheld_of(store, name))
        sizes = ", ".join(f"{split} {count:,}" for split, count in splits.items()) or "no records"
        say_aside(f"release {name} ({sizes}; withheld {withheld:,}) will be deleted; its records and what was exported stay")
        if not confirmed_deletion(f"release {name}", confirmed=confirmed):
            return False
        delete_release(store, name)
    if as_json:
        say_json({"store": str(path), "release": name, "splits": splits, "withheld": withheld})
    else:
        say(f"deleted release {name}")
    return True
