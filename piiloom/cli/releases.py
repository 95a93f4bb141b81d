"""``piiloom release``, ``releases`` and ``export``: records frozen into splits under a name, releases looked up, and written to files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from piiloom.cli.options import ConfirmedOptions, ListOptions, StoreOptions, seen_store, store_for_reading
from piiloom.cli.terminal import (
    command_group,
    confirm,
    examples,
    in_columns,
    say,
    say_aside,
    say_json,
    say_result,
    say_table,
    store_option,
    table_of,
)
from piiloom.corpus.formats.base import quoted
from piiloom.corpus.releases.comparing import RecordChange, ReleaseDiff, compare_releases
from piiloom.corpus.releases.exporting import WRITTEN_FORMATS, ExportReport, ExportSettings, export_formats
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.manifest import AT_IMPORT, SplitCounts
from piiloom.corpus.releases.release_options import ReleaseOptions, requested
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import delete_release
from piiloom.corpus.store.judgements import JudgedCount, judged_in_release
from piiloom.corpus.store.releases import (
    WARNING,
    ReleaseRow,
    count_members,
    get_release,
    iter_release_records,
    list_releases,
    new_values_of,
    withheld_of,
)
from piiloom.foundation.command_line import takes
from piiloom.foundation.seeding import COST_OF_SEEDS
from piiloom.foundation.settings import AnyPath, setting
from piiloom.foundation.words import counted

RELEASE_EXAMPLES = examples(
    "piiloom release --name v1",
    "piiloom release --name v1 --test-size 200 --validation-size 0.1 --seed 3 --run last",
    "piiloom release --name checked --status validated --min-agreement 0.8 --license CC-BY-4.0",
    "piiloom release --name folds --folds 5 --balance relevance",
    "piiloom release --name v2 --version 2.0.0 --max-value-overlap 0 --overlap-by redraw",
    "piiloom release --name v3 --keep-split-of v2",
    "piiloom release --name everything --test-size 0 --json",
)
_LIST = ("piiloom releases list", "piiloom releases list --json")
_SHOW = ("piiloom releases show v1", "piiloom releases show v1 --json")
_DIFF = ("piiloom releases diff v1 v2", "piiloom releases diff v1 v2 --limit 0", "piiloom releases diff v1 v2 --json")
_DELETE = ("piiloom releases delete v1", "piiloom releases delete v1 --yes --json")
_TITLES = ("release", "version", "records", "splits", "withheld", "of run", "status", "test size", "seed", "sha256")
_GROUPS = ("pairs", "types", "subtypes", "relevance", "locales", "producers")
_SHOWN = 12
_OFF_AT_ZERO = {"validation_size", "folds"}
HASH_SHOWN = 12
# The first ten names of a list in a warning, and the names after them.
_LONG_LIST = re.compile(r"((?:[^,:]+, ){9}[^,:]+)((?:, (?!since )[^,:]+){2,})")
# The printed figures of a leakage report: title -> place in the report.
_LEAKS = {
    "values": ("values",),
    "of open types": ("open_values",),
    "near contexts": ("contexts", "near"),
    "near questions": ("questions", "near"),
    "stories": ("stories",),
    "personas": ("personas",),
}
_FEWER = "--max-value-overlap 0 draws those of open types anew; the other columns count records"

releases_app = command_group("List, show, compare and delete the releases of a store.", *_LIST, *_SHOW, *_DIFF, *_DELETE)


class Releasing(StoreOptions, ReleaseOptions):
    """The options of ``piiloom release``."""

    name: str = setting(..., "Name of the release; a name can be used once. piiloom releases list shows the names.", metavar="TEXT")


class ShowRelease(StoreOptions):
    """The options of ``releases show``."""

    name: str = setting(..., "The release; piiloom releases list shows the names.", metavar="NAME", argument=True)


class DiffOptions(StoreOptions):
    """The options of ``releases diff``."""

    before: str = setting(..., "The earlier release.", metavar="A", argument=True)
    after: str = setting(..., "The later release.", metavar="B", argument=True)
    limit: int = setting(10, "Number of records to name of each kind; 0 names all.", flags="--limit -n", metavar="N", ge=0)


class DeleteOptions(ConfirmedOptions, ShowRelease):
    """The options of ``releases delete``."""


@takes(Releasing)
def release(asked: Releasing) -> None:
    """Freeze records of the store into splits that never change.

    Splits are stratified by pair of types; records that share a scenario, a persona or nearly the same text are never divided
    between them. piiloom releases lists, shows, compares and deletes releases; docs/releases.md explains them.
    """
    name = asked.name
    request = requested(name, **asked.part(ReleaseOptions).given())  # its faults are found before a store is opened
    with Store.open(asked.store, create=False) as store:
        row = freeze(store, draft_release(store, request))
        splits, withheld, new_values = count_members(store, row), withheld_of(store, row), len(new_values_of(store, row))
    data = {**row.to_json(), "splits": splits, "withheld": _withheld_json(withheld), "new_values": new_values, "store": str(asked.store)}
    said = f", withheld {len(withheld):,} (release.json of an export says why)" if withheld else ""
    head = f"release {row.name}: {_sizes(splits)}{said}"
    next_step = f"  next      piiloom export --release {row.name} --format native --out DIR{store_option(asked.store)}"
    say_result(data, head, *_findings(row, new_values), next_step, as_json=asked.as_json)


@releases_app.command("list", epilog=examples(*_LIST))
@takes(ListOptions)
def list_all(asked: ListOptions) -> None:
    """List releases, newest first, with the sizes of their splits. piiloom release makes one."""
    with seen_store(asked.store) as (store, place):
        releases = list_releases(store)
        lines = [_to_json(store, release) for release in asked.part_of(releases[::-1])]

    def table() -> list[str]:
        return in_columns([_TITLES, *map(_cells, lines)], left=(0, 1, 3, 5, 6, 9))

    empty = f"no releases in {asked.store}; piiloom release --name NAME{store_option(asked.store)} makes one"
    asked.say_list(place, "releases", lines, table, total=len(releases), empty=empty)


@releases_app.command("show", epilog=examples(*_SHOW))
@takes(ShowRelease)
def show(asked: ShowRelease) -> None:
    """Show one release: its version and hash, its settings, its splits by pair, type and relevance, and its withheld records.

    The leaks between its splits and the verdicts of judges are also shown. piiloom report --release measures more.
    """
    name = asked.name
    with seen_store(asked.store) as (store, place):
        release = get_release(store, name)
        line, withheld, judged = _to_json(store, release), withheld_of(store, release), judged_in_release(store, name)
        counts = {split: SplitCounts() for split in count_members(store, release)}
        for split, held in counts.items():
            for _ in held.counting(iter_release_records(store, release, split)):
                pass
    splits = {split: {**held.to_json(), "subtypes": dict(sorted(held.subtypes.items()))} for split, held in counts.items()}
    data = {**place, **line, "splits": splits, "withheld": _withheld_json(withheld), "judged": [asdict(one) for one in judged]}
    lines = list(_settings(release, line["records"], line["new_values"]))
    for split, held in counts.items():
        lines.append(f"\n{split}: {counted(held.records, 'record')}, {counted(held.spans, 'span')}")
        lines += [f"  {group:<9} {_most(getattr(held, group))}" for group in _GROUPS]
    leaks = f"\n  leaks     piiloom report --release {name}{store_option(asked.store)} measures what the splits share"
    say_result(data, *lines, *_left_out(withheld, judged), leaks, as_json=asked.as_json)


@releases_app.command("diff", epilog=examples(*_DIFF))
@takes(DiffOptions)
def diff(asked: DiffOptions) -> None:
    """Compare release A with release B: settings, records, splits, labels and texts.

    Records are compared by their ids. With --json all are listed.
    """
    with seen_store(asked.store) as (store, place):
        found = compare_releases(store, asked.before, asked.after)
    lines = [f"from release {asked.before} to release {asked.after}: {_summary(found)}"]
    lines += [f"  setting   {name.replace('_', ' ')}: {_said(one)} → {_said(other)}" for name, one, other in found.settings]
    records = {
        "added": [f"{record_id} ({split})" for record_id, split in found.added],
        "removed": [f"{record_id} ({split})" for record_id, split in found.removed],
        "moved": [f"{record_id} ({one} → {other})" for record_id, one, other in found.moved],
        "changed": [f"{one.record_id}: {'; '.join(_differences(one))}" for one in found.changed],
    }
    lines += [line for what, named in records.items() for line in _first(what, named, asked.limit)]
    say_result({**place, **found.to_json()}, *lines, as_json=asked.as_json)


@releases_app.command("delete", epilog=examples(*_DELETE))
@takes(DeleteOptions)
def delete(asked: DeleteOptions) -> None:
    """Delete a release from the store; its records and its exports stay.

    The same records, seed and sizes give the same release again.
    """
    name = asked.name
    with Store.open(asked.store, create=False) as store:
        release = get_release(store, name)
        splits, withheld = count_members(store, release), len(withheld_of(store, release))
        sizes = _sizes(splits) or "no records"
        say_aside(f"release {name} ({sizes}; withheld {withheld:,}) will be deleted; its records and what was exported stay")
        confirm("deletion, deleted", "Delete it?", where=f"release {name}", yes=asked.yes)
        delete_release(store, name)
    data = {"store": str(asked.store), "release": name, "splits": splits, "withheld": withheld}
    say_result(data, f"deleted release {name}", as_json=asked.as_json)


def _sizes(splits: Mapping[str, int]) -> str:
    return ", ".join(f"{split} {count:,}" for split, count in splits.items())


def _withheld_json(withheld: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"record": record_id, "reason": reason} for record_id, reason in withheld]


def _findings(row: ReleaseRow, new_values: int) -> Iterator[str]:
    """Yield the counts of filtered records and redrawn mentions, the notes, and the leaks between splits."""
    if left_out := ", ".join(f"{name} {count:,}" for name, count in row.left_out.items() if count):
        yield f"  left out  {left_out}"
    if new_values:
        yield f"  redrawn   {counted(new_values, 'mention')} in the place of values that are in another split"
    yield from (
        f"  {_shortened(note).replace(': ', '   ', 1)}" if note.startswith(WARNING) else f"  note      {note}" for note in row.notes
    )
    if row.leakage is not None:
        yield from _leaks(row.leakage)


def _shortened(warning: str) -> str:
    """Return *warning* with the first ten names of each list and the number of the others; ``--json`` has them all."""
    return _LONG_LIST.sub(lambda found: f"{found[1]} and {found[2].count(', ')} more (--json names all)", warning)


def _leaks(leakage: Mapping[str, Any]) -> Iterator[str]:
    """Yield the leaks between splits that a release has (``piiloom.corpus.releases.leakage``), and the meaning of one figure."""
    if not leakage:
        return
    rows = [(name, split["against"], *(_seen(split, *path) for path in _LEAKS.values())) for name, split in leakage.items()]
    yield "\n".join(f"  {line}" for line in in_columns([("leaks", "from", *_LEAKS), *rows], left=(0, 1)))
    name, split = next(iter(leakage.items()))
    seen, of = split["values"]["seen"], split["values"]["of"]
    yield f"            {seen:,}/{of:,}: of {of:,} distinct values in {name}, {seen:,} are also in {split['against']}; {_FEWER}"


def _seen(split: Mapping[str, Any], *path: str) -> str:
    found: Any = split
    for name in path:
        found = found[name]
    return f"{found['seen']:,}/{found['of']:,}"


def _settings(release: ReleaseRow, records: int, new_values: int) -> Iterator[str]:
    run = f"of run {release.run_id}" if release.run_id else "of all runs and imports"
    chosen = f"status {release.status_filter}, test size {release.test_size}, seed {release.seed}"
    yield f"release {release.name} {release.version}: {counted(records, 'record')} {run}, {chosen}"
    facts = {
        "sha256": "not kept" if release.content_sha256 is None else release.content_sha256[:HASH_SHOWN],
        "licence": release.license or "not stated",
        "frozen": f"by piiloom {release.piiloom}, schema version {release.schema_version}" if release.piiloom else "by an earlier piiloom",
        "splits": _fields(release.split_settings),
        "filters": _fields(release.record_choice),
    }
    yield from (f"  {name:<9} {value}" for name, value in facts.items())
    yield from _findings(release, new_values)


def _fields(settings: Mapping[str, Any]) -> str:
    """Return the settings that have an effect: "test size 0.1, seed 7, group by keys contexts"."""
    parts = [
        f"{name.replace('_', ' ')} {(' '.join(value) or 'nothing') if isinstance(value, list) else value}"
        for name, value in settings.items()
        if value is not None and (value or name not in _OFF_AT_ZERO)
    ]
    return ", ".join(parts)


def _left_out(withheld: list[tuple[str, str]], judged: list[JudgedCount]) -> Iterator[str]:
    if withheld:
        yield f"\nwithheld: {counted(len(withheld), 'record')}"
        yield f"  reasons   {_most(Counter(reason for _, reason in withheld))}"
    for one in judged:
        if one.kind == "unlisted":
            yield f"\na trained detector finds {counted(one.disagree, 'value')} outside of spans, in {counted(one.records, 'record')}"
            continue
        what = "question leaks a value" if one.kind == "leak" else "relevance is another"
        values, records = counted(one.judged, "value"), counted(one.records, "record")
        yield f"\njudged for {one.kind}: {values}; for {one.disagree:,} of them, in {records}, the {what}"


def _to_json(store: Store, release: ReleaseRow) -> dict[str, Any]:
    splits = count_members(store, release)
    return {
        **release.to_json(),
        "records": sum(splits.values()),
        "splits": splits,
        "withheld": len(withheld_of(store, release)),
        "new_values": len(new_values_of(store, release)),
    }


def _cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    figures = (f"{line['records']:,}", _sizes(line["splits"]), f"{line['withheld']:,}")
    chosen = (line["run"] or "all", line["status"], line["test_size"], str(line["seed"]))
    return (line["release"], line["version"], *figures, *chosen, (line["content_sha256"] or "")[:HASH_SHOWN])


def _most(counts: Counter[str]) -> str:
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f", … {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(f"{name} {count:,}" for name, count in found[:_SHOWN]) + more


def _summary(diff: ReleaseDiff) -> str:
    if diff.same_content:
        return "the same content"
    parts = [f"{len(getattr(diff, kind)):,} {kind}" for kind in ("added", "removed", "moved", "changed")]
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in diff.kinds().items())
    return ", ".join(parts) + (f" ({kinds})" if kinds else "")


def _first(what: str, lines: Sequence[str], limit: int) -> Iterator[str]:
    shown = lines[:limit] if limit else lines
    if lines:
        yield f"\n{what}: {counted(len(lines), 'record')}"
    yield from (f"  {line}" for line in shown)
    if len(shown) < len(lines):
        yield f"  … {len(lines) - len(shown):,} more (--limit 0 names all)"


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


EXPORT_EXAMPLES = examples(
    "piiloom export --release v1 --format native --out outputs/v1",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --force",
    "piiloom export --release v1 --format native --format capid --out outputs/v1-all",
    "piiloom export --release v1 --format native --split test --out outputs/v1-test",
    "piiloom export --release v1 --format capid --out outputs/v1-capid --json",
)


class ExportOptions(StoreOptions, ExportSettings):
    """The options of ``piiloom export``."""

    release: str = setting(..., "The release to write; piiloom release makes one.", metavar="NAME")
    out: AnyPath = setting(..., "The folder to write to; it must be new or empty.", flags="--out -o", metavar="DIR")
    format: list[str] = setting(..., WRITTEN_FORMATS, metavar="FORMAT")


@takes(ExportOptions)
def export(asked: ExportOptions) -> None:
    """Write a release to a file for each split (train.jsonl, test.jsonl …; an empty one is left out) and release.json.

    The same release gives the same bytes everywhere (but for the surrogates of masked). release.json lists the losses of a format.
    """
    chosen = asked.formats()
    if asked.seed is not None:
        say_aside(f"warning: {COST_OF_SEEDS}")
    with store_for_reading(asked.store) as store:
        reports = export_formats(
            store,
            asked.release,
            chosen,
            asked.out,
            splits=asked.splits,
            tokenizer=asked.tokenizer,
            markers=asked.marker_set,
            seed=asked.seed,
            force=asked.force,
        )
    if asked.as_json:
        told = [report.to_json() for report in reports]
        say_json(told[0] if len(told) == 1 else {"release": asked.release, "out": str(asked.out), "exports": told})
        return
    for report in reports:
        _print_export(report)


def _print_export(report: ExportReport) -> None:
    rows = [(str(report.out / one.name), one.split or "", f"{one.records:,}", f"{one.sha256[:HASH_SHOWN]}…") for one in report.files]
    say_table(table_of(f"release {report.release} as {report.format}", ("file", "split", "records", "sha256"), rows, right=(2,)))
    if report.withheld:
        say(f"withheld: {counted(report.withheld, 'record')} (release.json says why)")
    if report.loss.fields:
        say(f"{report.format} does not keep: {', '.join(report.loss.fields)}")
    before = [entry for entry in report.loss.entries if entry.reason.startswith(AT_IMPORT)]
    now = [entry for entry in report.loss.entries if not entry.reason.startswith(AT_IMPORT)]
    for entries, where in ((before, AT_IMPORT), (now, f"lost in {report.format}")):
        if entries:
            records = len({entry.record_id for entry in entries})
            many = "value or field" if len(entries) == 1 else "values or fields"
            say(f"{where}: {len(entries):,} {many} of {counted(records, 'record')} (release.json lists them)")
    say(f"description and hashes: {report.out / 'release.json'}")
