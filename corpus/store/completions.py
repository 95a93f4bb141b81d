"""Paid replies: every one is kept, and none is ever overwritten, so that what was spent can always be added up.

A key names a request and draw number. When one key was paid for twice (its first reply was lost or an error), both rows
stay and the later one counts as the reply. Verdicts are appended beside the replies for the same reason, and because a
rewrite of a large table would be slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Literal

from corpus.store.database import Store
from corpus.store.statements import select

ReplyVerdict = Literal["accepted", "refused_by_validator", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRow:
    """One reply of a provider. ``fault`` is what its validator said against it; ``cost_usd`` None when the price is unknown."""

    key: str
    run_id: str
    stage: str
    item_id: str
    attempt: int
    provider: str
    endpoint: str | None
    model: str | None
    template: str | None
    rendered_sha256: str | None
    reply: str | None
    verdict: ReplyVerdict | None
    fault: str | None
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    retries: int


_COLUMNS = tuple(field.name for field in fields(CompletionRow))


def save_completions(store: Store, rows: Sequence[CompletionRow]) -> None:
    """Keep paid replies."""
    store.append("completions", _COLUMNS, [astuple(row) for row in rows])


def set_verdicts(store: Store, run_id: str, verdicts: Sequence[tuple[str, ReplyVerdict, str | None]]) -> None:
    """Note (key, verdict, fault) for replies of a run; the last verdict on a key counts."""
    values = [(key, run_id, verdict, fault) for key, verdict, fault in verdicts]
    store.append("completion_verdicts", ("key", "run_id", "verdict", "fault"), values)


def load_replies(store: Store, run_id: str) -> dict[str, CompletionRow]:
    """The replies of a run by key, with their last verdicts, in the order they were paid for."""
    judged = {
        key: (verdict, fault)
        for key, verdict, fault in store.rows(
            "SELECT key, verdict, fault FROM completion_verdicts WHERE run_id = ? ORDER BY rowid", [run_id]
        )
    }
    replies: dict[str, CompletionRow] = {}
    for row in store.rows(select(_COLUMNS, "completions", "WHERE run_id = ? ORDER BY rowid"), [run_id]):
        values = dict(zip(_COLUMNS, row, strict=True))
        values["verdict"], values["fault"] = judged.get(values["key"], (values["verdict"], values["fault"]))
        replies[values["key"]] = CompletionRow(**values)
    return replies
