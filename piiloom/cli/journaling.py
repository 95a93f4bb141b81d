"""The work behind ``piiloom journal show``, ``purge`` and ``vacuum``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import typer

from piiloom.cli.columns import in_columns
from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import dollars, in_stage_order, store_option
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.corpus.store.call_history import MEMORY_FOR_SUMS, JournalLine, journal_lines
from piiloom.corpus.store.compacting import compact
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.purging import last_heard, purge_texts
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import UsageError

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
