"""``piiloom rejects``: the balance of a run, from rows in to rows accepted, and each reject with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from piiloom.cli.options import StoreOptions, run_setting
from piiloom.cli.reading import store_for_reading
from piiloom.cli.run_summary import dollars, store_option
from piiloom.cli.terminal import examples, say, say_error, say_json
from piiloom.corpus.store.call_history import MEMORY_FOR_SUMS, ItemCalls, calls_by_item, calls_by_key
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.progress import RejectRow, load_rejects
from piiloom.corpus.store.row_ledger import RowCounts, count_rows
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.foundation.command_line import takes
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import setting
from piiloom.generation.plan.lifting import lost_pairs
from piiloom.generation.running.stopping import TRANSIENT_CODES
from piiloom.generation.stages.pipeline import stage_names

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectLine:
    """One reject: ``item`` is what ``piiloom trace`` takes, ``calls`` what was sent for it, ``replay`` how to try it again.

    ``unpriced`` of its replies have no known price. Only rejects of plan items are rows; those of pairs and topics are not,
    and of these only the ones that found the provider away, or left a pair with nothing, are asked for again (``replay`` is
    None for the others).
    """

    item: str
    is_row: bool
    stage: str
    code: str
    detail: str
    calls: int
    cost_usd: float
    unpriced: int
    replay: str | None


@takes(RejectsOptions)
def rejects(asked: RejectsOptions) -> None:
    """List the rejects of a run, with stage, reason, calls made, cost, and the command that tries each again.

    The first line is the balance: rows in = accepted + rejected + open. It is counted anew from the store each time.
    """
    with store_for_reading(asked.store, memory_limit=MEMORY_FOR_SUMS) as store:
        run = get_run(store, asked.run)
        rows = count_rows(store, run.id)
        lines = _reject_lines(store, run, asked.store)
    if asked.stage is not None and asked.stage not in (known := _stages(run, lines)):
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


def _stages(run: RunRow, lines: Sequence[RejectLine]) -> list[str]:
    """Return the stages of *run*, and all others with rejects."""
    named = stage_names(run.config.get("recipe", "staged"), run.config.get("judges") or ())
    return [*named, *sorted({line.stage for line in lines} - set(named))]


def _reject_lines(store: Store, run: RunRow, path: Path) -> list[RejectLine]:
    """Return the rejects of *run* by plan index, those of pairs and topics last."""
    taken, lost = calls_by_item(store, run.id), {key for keys in lost_pairs(store, run).values() for key in keys}
    return [_line(row, _taken(store, run, row, taken), run, path, is_lost=row.key in lost) for row in load_rejects(store, run.id)]


def _taken(store: Store, run: RunRow, row: RejectRow, by_item: dict[int, ItemCalls]) -> ItemCalls:
    if row.plan_index is not None:
        return by_item.get(row.plan_index, ItemCalls())
    # An entry dropped from a list ("age+health#3") was not asked for by itself.
    return calls_by_key(store, run.id, row.stage, row.key) if row.key and "#" not in row.key else ItemCalls()


def _line(row: RejectRow, taken: ItemCalls, run: RunRow, path: Path, *, is_lost: bool) -> RejectLine:
    is_row = row.plan_index is not None
    again = f" --retry {row.plan_index}" if is_row else "" if row.reason_code in TRANSIENT_CODES else None
    if is_lost:
        again = f" --retry {row.reason_code}"
    return RejectLine(
        item=f"{run.id}:{row.plan_index if is_row else row.key}",
        is_row=is_row,
        stage=row.stage,
        code=row.reason_code,
        detail=row.detail,
        calls=taken.tries,
        cost_usd=taken.cost_usd,
        unpriced=taken.unpriced,
        replay=None if again is None else f"piiloom generate --resume {run.id}{again}{store_option(path)}",
    )


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
