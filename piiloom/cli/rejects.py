"""``piiloom rejects``: the balance of a run, from rows in to rows accepted, and each reject with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import typer

from piiloom.cli.options import StoreOptions, run_setting, store_for_reading
from piiloom.cli.run_summary import dollars, store_option
from piiloom.cli.terminal import examples, say, say_error, say_json
from piiloom.corpus.store.costs import MEMORY_FOR_SUMS
from piiloom.corpus.store.runs import RowCounts, RunRow, count_rows, get_run
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted
from piiloom.generation.running.stage_report import RejectLine, report_rejects, stages_of

EPILOG = examples(
    "piiloom rejects",
    "piiloom rejects --run r0001-1a2b3c4d --stage question",
    "piiloom rejects --code invalid_request --limit 0",
    "piiloom rejects --run last --json",
)


class RejectsOptions(StoreOptions):
    """The options of ``piiloom rejects``."""

    run: str = run_setting()
    stage: str | None = setting(None, "Only rejects of this stage.", metavar="STAGE")
    code: str | None = setting(None, "Only rejects with this reason code.", metavar="CODE")
    limit: int = setting(20, "Number of rejects to print; 0 prints all.", flags="--limit -n", metavar="N", ge=0)


@takes(RejectsOptions)
def rejects(asked: RejectsOptions) -> None:
    """List the rejects of a run, with stage, reason, calls made, cost, and the command that tries each again.

    The first line is the balance: rows in = accepted + rejected + open. It is counted anew from the store each time.
    """
    with store_for_reading(asked.store, memory_limit=MEMORY_FOR_SUMS) as store:
        run = get_run(store, asked.run)
        rows = count_rows(store, run.id)
        lines = report_rejects(store, run, store_option(asked.store))
    if asked.stage is not None and asked.stage not in (known := stages_of(run, lines)):
        raise UsageError(f"run {run.id} has no stage {asked.stage!r}", where="--stage", remedy=f"Name one of {', '.join(known)}")
    chosen = [line for line in lines if asked.stage in {None, line.stage} and asked.code in {None, line.code}]
    if asked.as_json:
        balance = asdict(rows) | {"balanced": rows.balanced}
        say_json({"run": run.id, "status": run.status, "rows": balance, "rejects": [asdict(line) for line in chosen]})
    else:
        _say_balance(run, rows, lines)
        _say_rejects(chosen, asked.limit, is_part=len(chosen) < len(lines))
    if not rows.balanced:
        say_error(f"run {run.id} does not balance: {rows.twice:,} rows are both accepted and rejected; please report this")
        raise typer.Exit(1)


def _say_balance(run: RunRow, rows: RowCounts, lines: Sequence[RejectLine]) -> None:
    parts = f"{rows.accepted:,} accepted + {rows.rejected:,} rejected + {rows.open:,} open"
    say(f"run {run.id} {run.status}: {counted(rows.rows_in, 'row')} in {'=' if rows.balanced else '≠'} {parts}")
    reasons = Counter((line.stage, line.code, line.is_row) for line in lines)
    for (stage, code, is_row), number in sorted(reasons.items(), key=lambda found: (not found[0][2], -found[1], found[0])):
        say(f"  {number:>6,}  {stage}: {code}{'' if is_row else '   (of pairs and topics: no rows)'}")


def _say_rejects(lines: Sequence[RejectLine], limit: int, *, is_part: bool) -> None:
    shown = lines[:limit] if limit else lines
    for line in shown:
        cost = dollars(line.cost_usd) + (f" + {counted(line.unpriced, 'reply')} of unknown price" if line.unpriced else "")
        say(f"\n{line.item}  {line.stage}: {line.code}  {counted(line.calls, 'call')}  {cost}")
        if line.detail:
            say(f"    {line.detail}")
        if line.replay:
            say(f"    {line.replay}")
    if len(shown) < len(lines):
        say(f"\n… and {len(lines) - len(shown):,} more; --limit 0 prints all")
    if is_part and not lines:
        say("  no reject matches")
