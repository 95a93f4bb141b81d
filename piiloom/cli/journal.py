"""``piiloom journal``: what the store knows about paid calls: sums, an export, forgetting texts, a smaller file."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.pace import dollars
from piiloom.cli.paging import in_columns
from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import store_option
from piiloom.cli.stage_order import in_stage_order
from piiloom.cli.terminal import examples, say, say_aside, say_json
from piiloom.corpus.store.call_history import (
    MEMORY_FOR_SUMS,
    JournalLine,
    count_events,
    iter_events,
    journal_lines,
    load_prompts,
    prompt_names,
)
from piiloom.corpus.store.compacting import compact
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.purging import last_heard, purge_texts
from piiloom.corpus.store.runs import get_run, list_runs
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.version import __version__

_SHOW = ("piiloom journal show", "piiloom journal show --run last --json")
_EXPORT = ("piiloom journal export --out calls.jsonl", "piiloom journal export --run last --out outputs/last.jsonl")
_PURGE = ("piiloom journal purge --run r0001-1a2b3c4d", "piiloom journal purge --older-than 90 --yes")
_VACUUM = ("piiloom journal vacuum", "piiloom journal vacuum --store other.duckdb --json")

journal_app = typer.Typer(
    help="Sum up the calls of runs; export, purge or compact their journal.",
    epilog=examples(*_SHOW, *_EXPORT, *_PURGE, *_VACUUM),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_OneRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help='Only this run, by its id or "last"; all runs when not given.')]


@journal_app.command("show", epilog=examples(*_SHOW))
def show(
    store: StoreOption = DEFAULT_STORE,
    run: _OneRun = None,
    stage: Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Only the calls of this stage.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sum up the calls by run and stage: replies, failures, retries, tokens, cost.

    The column "maybe paid" counts requests without an answer that may have been billed: lost on the way, or under way when
    their process ended.
    """
    print_journal(store, run_id=run, stage=stage, as_json=as_json)


@journal_app.command("export", epilog=examples(*_EXPORT))
def export(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The JSONL file to write; one that is there is replaced at the end.")],
    store: StoreOption = DEFAULT_STORE,
    run: _OneRun = None,
    as_json: JsonOption = False,
) -> None:
    """Write every prompt, reply, failure and verdict to a JSON Lines file, and check it against the store.

    The file holds prompts and replies in full. It appears under its name only when it is complete and was read back.
    """
    export_journal(store, out, run_id=run, as_json=as_json)


@journal_app.command("purge", epilog=examples(*_PURGE))
def purge(
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="RUN", help='A run to purge, by its id or "last"; may be given several times.')
    ] = None,
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Purge the runs whose last call is at least this many days old."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Delete the texts of prompts and replies of chosen runs; records, codes, tokens and costs stay.

    A purged reply cannot be used again: a run that asks the same pays for it anew.
    """
    if not purge_journal(store, runs=run or [], older_than=older_than, confirmed=yes, as_json=as_json):
        raise typer.Exit(1)


@journal_app.command("vacuum", epilog=examples(*_VACUUM))
def vacuum(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Rewrite the store's file without the space of what was deleted; prints its size before and after.

    The copy is compared with the store before it takes its place; until then nothing is changed.
    """
    vacuum_store(store, as_json=as_json)


SCHEMA = 1
_PROMPTS = "prompt_texts"


def export_journal(path: Path, out: Path, *, run_id: str | None, as_json: bool) -> None:
    """Write the journal of a run (of all runs when None) to *out*, and print how many rows of each kind it has.

    Raises ``OutputError`` when it cannot be written, or is not on disk as the store has it; *out* is then as it was.
    """
    if out.resolve() == path.resolve():
        raise UsageError("that is the store itself", where="--out", remedy="Name another file")
    draft = out.with_name(f".{out.name}.part")
    with store_for_reading(path) as store:
        chosen = get_run(store, run_id).id if run_id else None
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            sha256 = _write(draft, _rows(store, chosen))
            found = _read_back(draft, sha256, out)
            _compare(found, store, chosen, out)
            draft.replace(out)
        except OSError as error:
            raise OutputError(
                f"the journal cannot be written ({error.strerror})", where=str(out), remedy="Name another file with --out"
            ) from error
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    size = out.stat().st_size
    if as_json:
        say_json({"store": str(path), "run": chosen, "file": str(out), "bytes": size, "rows": dict(found)})
    else:
        rows = ", ".join(f"{name} {number:,}" for name, number in sorted(found.items()))
        say(
            f"{out}: {counted(sum(found.values()), 'row')} ({rows or 'the journal is empty'}), {counted(size, 'byte')}; "
            "read back and equal to the store"
        )


def _rows(store: Store, run_id: str | None) -> Iterator[dict[str, Any]]:
    runs = [run_id] if run_id else [run.id for run in list_runs(store)]
    yield {"table": "journal", "schema": SCHEMA, "piiloom": __version__, "runs": runs}
    names = prompt_names(store, run_id)
    yield from ({"table": _PROMPTS, "sha256": name, "text": text} for name, text in load_prompts(store, names).items())
    yield from ({"table": "call_events", **asdict(event)} for event in iter_events(store, run_id))


def _write(draft: Path, rows: Iterator[dict[str, Any]]) -> str:
    """Write *rows* and see them on disk; gives the SHA-256 of what was written."""
    sha256 = hashlib.sha256()
    with draft.open("wb") as file:
        for row in rows:
            line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
            sha256.update(line)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return sha256.hexdigest()


def _read_back(draft: Path, written: str, out: Path) -> Counter[str]:
    """Read the file again and count its rows by kind; raises ``OutputError`` when it is not what was written."""
    sha256, counts = hashlib.sha256(), Counter[str]()
    with draft.open("rb") as file:
        for number, line in enumerate(file):
            sha256.update(line)
            row = json.loads(line)
            if number:
                counts[row.get("kind", _PROMPTS)] += 1
    if sha256.hexdigest() != written:
        raise OutputError("the file on disk is not what was written", where=str(out), remedy="The disk may be failing: use another one")
    return counts


def _compare(found: Counter[str], store: Store, run_id: str | None, out: Path) -> None:
    wanted = Counter(count_events(store, run_id))
    wanted[_PROMPTS] = len(load_prompts(store, prompt_names(store, run_id)))
    if found != +wanted:
        raise OutputError(
            "the file does not hold all rows of the journal", where=str(out), remedy="Nothing was written; please report this"
        )


# Columns that are left out where they hold nothing but zeros.
_SPARED = ("unusable", "refused", "retried", "reused", "purged", "cached")
_TITLES = (
    "run",
    "stage",
    "calls",
    "sent",
    "replies",
    "unusable",
    "refused",
    "failed",
    "retried",
    "reused",
    "purged",
    "tokens in",
    "cached",
    "out",
    "cost",
    "maybe paid",
)


def print_journal(path: Path, *, run_id: str | None, stage: str | None, as_json: bool) -> None:
    """Print what the calls of the runs came to, a line a run and stage."""
    with store_for_reading(path, memory_limit=MEMORY_FOR_SUMS) as store:
        chosen = get_run(store, run_id).id if run_id else None
        found = journal_lines(store, chosen, stage)
    of_runs = groupby(found, key=lambda line: line.run_id)  # runs come one after the other
    lines = [line for _, own in of_runs for line in in_stage_order(own, lambda line: line.stage)]
    total = _total(lines)
    if as_json:
        say_json({"store": str(path), "lines": [asdict(line) for line in lines], "total": _sums(total)})
        return
    if not lines:
        chose = " that match" if chosen or stage else ""
        say(f"no calls in the journal of {path}{chose} (of the composer's replies only refused ones are kept)")
        return
    cells = [_cells(line, line.run_id) for line in lines]
    if len(lines) > 1:
        cells.append(_cells(total, "all"))
    shown = [at for at, title in enumerate(_TITLES) if title not in _SPARED or any(row[at] != "0" for row in cells)]
    say("\n".join(in_columns([[row[at] for at in shown] for row in (_TITLES, *cells)], left=(0, 1))))
    _say_more(total)


def purge_journal(path: Path, *, runs: Sequence[str], older_than: float | None, confirmed: bool, as_json: bool) -> bool:
    """Delete the texts of *runs* and of those not used for *older_than* days; False when it was not confirmed."""
    if not runs and older_than is None:
        raise UsageError("no run is chosen", remedy="Name runs with --run, or give --older-than DAYS")
    with Store.open(path, create=False) as store:
        chosen = _chosen(store, runs, older_than)
        if not chosen:
            _say_purged(path, [], 0, 0, 0, as_json=as_json)
            return True
        if not confirmed and not _confirmed(store, chosen):
            say_aside("nothing was purged")
            return False
        purged = purge_texts(store, chosen)
    _say_purged(path, chosen, purged.prompts, purged.replies, purged.rejects, as_json=as_json)
    return True


def vacuum_store(path: Path, *, as_json: bool) -> None:
    """Compact the store's file and print its sizes in bytes."""
    done = compact(path)
    if as_json:
        say_json({"store": str(path), "before_bytes": done.before, "after_bytes": done.after, "rows": done.rows})
    else:
        saved = f"{1 - done.after / done.before:.0%} smaller" if done.after < done.before else "no space to reclaim"
        say(
            f"{path}: {counted(done.before, 'byte')} before, {done.after:,} after ({saved}); "
            f"{counted(done.rows, 'row')} copied and compared"
        )


def _chosen(store: Store, runs: Sequence[str], older_than: float | None) -> list[str]:
    """List the ids of the runs to purge. Runs whose last call has no time on record are never old by themselves."""
    ids = [get_run(store, run).id for run in runs]
    if older_than is not None:
        limit = datetime.now(UTC) - timedelta(days=older_than)
        heard = last_heard(store)
        ids += [run for run, at in heard.items() if at is not None and at <= limit]
        undated = sorted(run for run, at in heard.items() if at is None and run not in ids)
        if undated:
            say_aside(f"the calls of {', '.join(undated)} have no date; name such runs with --run")
    return list(dict.fromkeys(ids))


def _confirmed(store: Store, run_ids: Sequence[str]) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("the purge must be confirmed, and there is no terminal to ask", where=", ".join(run_ids), remedy="Add --yes")
    for run_id in run_ids:
        run = get_run(store, run_id)
        more = "" if run.status == "finished" else "; going on with it would pay again for what it has not finished"
        say_aside(f"run {run.id} ({run.status}): the texts of its prompts and replies will be deleted{more}")
    return typer.confirm("Delete them?", err=True)


def _say_purged(path: Path, runs: Sequence[str], prompts: int, replies: int, rejects: int, *, as_json: bool) -> None:
    if as_json:
        say_json({"store": str(path), "runs": list(runs), "prompts": prompts, "replies": replies, "reject_replies": rejects})
        return
    if not runs:
        say("no run is that old; nothing was purged")
        return
    say(
        f"purged {', '.join(runs)}: {counted(prompts, 'prompt')}, {counted(replies, 'reply')}, "
        f"{counted(rejects, 'last reply')} of rejects; costs are kept"
    )
    say(f"  next      piiloom journal vacuum{store_option(path)}   (until then the file's free space still holds the texts)")


def _total(lines: Sequence[JournalLine]) -> JournalLine:
    summed = {field.name: sum(getattr(line, field.name) for line in lines) for field in fields(JournalLine)[2:]}
    return JournalLine(run_id="", stage="", **summed)


def _sums(total: JournalLine) -> dict[str, float]:
    return {name: value for name, value in asdict(total).items() if name not in {"run_id", "stage"}}


def _cells(line: JournalLine, run_id: str) -> tuple[str, ...]:
    counts = (line.calls, line.tries, line.replies, line.unusable, line.refused, line.failed, line.retried, line.reused, line.purged)
    tokens = (line.input_tokens, line.cached_tokens, line.output_tokens)
    cost = dollars(line.cost_usd) + (" + ?" if line.unpriced else "")
    return (run_id, line.stage, *(f"{number:,}" for number in (*counts, *tokens)), cost, f"{line.maybe_paid + line.open:,}")


def _say_more(total: JournalLine) -> None:
    """Explain the figures that need it."""
    if total.unpriced:
        say(f"  + ?       {counted(total.unpriced, 'reply')} of unknown price")
    if total.charged_usd:
        say(
            f"  set aside {dollars(total.charged_usd)} for {counted(total.maybe_paid, 'call')} "
            "that ended without an answer and may have been billed"
        )
    if total.in_batches:
        say(f"  batches   {counted(total.in_batches, 'request')} in batches that are not answered yet")
    if total.open:
        say(
            f"  open      {counted(total.open, 'request')} without an outcome on record, which may have been paid for"
            + (f", {dollars(total.open_worst_usd)} at most" if total.open_worst_usd else "")
        )
