"""A call that the journal has no reply to, and the entries that the journal stores about it (``piiloom.corpus.store.call_events``).

The first try of each call is stored with its prompt. System prompts are stored once, since many calls share them. ``CallTotals`` counts the
calls of a run over all its sessions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from piiloom.corpus.store.call_events import CallEvent, EventKind
from piiloom.corpus.store.costs import Spending
from piiloom.execution.committing import Batch
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import (
    AuthFailed,
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    ProviderUnavailable,
    RateLimited,
    Refused,
    ReplyRejected,
    ServerPaused,
    Truncated,
)
from piiloom.providers.protocol import Completion, Message, PromptCall, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call that the journal has no reply to: its key, its rendered messages, and their digest."""

    call: PromptCall
    key: str
    messages: Sequence[Message]
    rendered_sha256: str

    def event(self, kind: EventKind, entry: dict[str, Any]) -> CallEvent:
        """Build a journal event of *kind* about this call."""
        call = self.call
        return CallEvent(key=self.key, kind=kind, stage=call.stage, item_id=call.item_id, attempt=call.attempt, entry=entry)


# Codes of paid answers that cannot be used. Replaying such an answer from the journal raises the same error class again.
REPLY_FAULTS: Mapping[str, type[ReplyRejected]] = {"refused": Refused, "truncated": Truncated, "invalid_reply": InvalidReply}
_FAILURES: Mapping[type[ProviderError], str] = {
    RateLimited: "rate_limited",
    ServerPaused: "server_paused",
    InvalidRequest: "invalid_request",
    AuthFailed: "auth_failed",
    BudgetExceeded: "no_money",
}


def reply_code(error: ReplyRejected) -> str:
    """Return the code that rejects and the journal use for *error*: a key of ``REPLY_FAULTS``, else "unusable_reply"."""
    return next((code for code, kind in REPLY_FAULTS.items() if isinstance(error, kind)), "unusable_reply")


def failure_code(error: ProviderError) -> str:
    """Return the code that the journal uses for *error*; "unknown_outcome" means that the call may have been answered and billed."""
    if isinstance(error, ReplyRejected):
        return reply_code(error)
    if isinstance(error, ProviderUnavailable):
        return "unknown_outcome" if error.maybe_billed else "unavailable"
    return next((code for kind, code in _FAILURES.items() if isinstance(error, kind)), "failed")


def text_sha256(text: str) -> str:
    """SHA-256 (hex) of *text*, which may hold lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sent_entry(number: int, worst_usd: float | None, at: datetime) -> dict[str, Any]:
    """Build the entry written before try *number* (from 1) is sent; *worst_usd* is the most it can cost (None: price unknown)."""
    return {"try": number, "worst_usd": worst_usd, "at": at.isoformat(timespec="milliseconds")}


def failure_entry(number: int, code: str, message: str, *, charge_usd: float, maybe_billed: bool, final: bool) -> dict[str, Any]:
    """Build the entry for try *number* (from 1), which failed with error *code*.

    *charge_usd* is booked for a try that may have been billed. *final* means that the call is not retried.
    """
    return {"try": number, "code": code, "message": message, "maybe_billed": maybe_billed, "charge_usd": charge_usd, "final": final}


def unsaid_cost(completion: Completion, worst_usd: float | None) -> float:
    """Return the USD to charge for an answer without a reported cost: *worst_usd*, or 0 if the price is unknown or a cost is reported."""
    return 0.0 if completion.cost_usd is not None else worst_usd or 0.0


def reply_entry(
    provider: Provider,
    rendered_sha256: str,
    call: PromptCall,
    number: int,
    completion: Completion,
    error: str | None,
    *,
    charge_usd: float = 0.0,
    batch: bool = False,
) -> dict[str, Any]:
    """Build the entry for try *number* (from 1), which was answered with *completion*.

    *error* says why the answer cannot be used, as "code: message"; None if it can. *charge_usd* is booked when the cost is not reported.
    """
    usage = completion.usage
    return {
        "try": number,
        "provider": provider.name,
        "endpoint": provider.endpoint,
        "model": completion.model or provider.model,
        "template": call.template,
        "rendered_sha256": rendered_sha256,
        "reply": completion.text,
        "finish_reason": completion.finish_reason,
        "error": error,
        "input": usage.input,
        "cached": usage.cached,
        "cache_write": getattr(usage, "cache_write", 0),
        "output": usage.output,
        "cost_usd": completion.cost_usd,
        "charge_usd": charge_usd,
        "latency_s": round(completion.latency_s, 4),
        "retries": completion.retries,
        "batch": batch,
    }


class PromptNotes:
    """Builds the prompt part of journal entries and remembers which system prompts are stored already."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def entry(self, request: Request, batch: Batch) -> dict[str, Any]:
        """Return the prompt as the entry of a first try holds it: the system prompt's SHA-256, the user text and the schema name.

        A system prompt that is not stored yet is added to *batch*.
        """
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        user = "\n\n".join(message.content for message in request.messages if message.role != "system")
        return {"system": self._name(system, batch) if system else None, "user": user, "schema_name": request.call.schema_name}

    def _name(self, system: str, batch: Batch) -> str:
        name = text_sha256(system)
        if name not in self._known:
            self._known.add(name)
            batch.prompts.append((name, system))
        return name


@dataclass(slots=True, kw_only=True)
class CallTotals(Spending):
    """Totals of all sessions of a run, and of the current one.

    ``answered_now`` counts the answers of the current session, ``replayed`` the replies it took from the journal.
    """

    answered_now: int = 0
    replayed: int = 0

    @classmethod
    def after(cls, earlier: Spending) -> CallTotals:
        """Start from the totals of the earlier sessions."""
        return cls(**asdict(earlier))

    def __sub__(self, other: CallTotals) -> CallTotals:
        return CallTotals(**{name: count - getattr(other, name) for name, count in asdict(self).items()})

    def add(self, more: CallTotals) -> None:
        """Add *more* to these totals, in place."""
        for name, count in asdict(more).items():
            setattr(self, name, getattr(self, name) + count)

    @property
    def spent_usd(self) -> float:
        """What counts against the budget, in USD: the cost of replies plus charges for calls that may have been billed."""
        return self.cost_usd + self.charged_usd

    def count(self, completion: Completion, charge_usd: float = 0.0) -> None:
        """Count an answer; *charge_usd* is added instead of its cost if that is not reported."""
        self.answered += 1
        self.answered_now += 1
        self.input_tokens += completion.usage.input
        self.cached_tokens += completion.usage.cached
        self.output_tokens += completion.usage.output
        if completion.cost_usd is None:
            self.unpriced += 1
            self.charged_usd += charge_usd
        else:
            self.cost_usd += completion.cost_usd

    def count_failure(self, charge_usd: float, *, maybe_billed: bool, final: bool) -> None:
        """Count a failed try: as a failure if *final*, otherwise as a retry."""
        self.charged_usd += charge_usd
        self.maybe_paid += maybe_billed
        if final:
            self.failed += 1
        else:
            self.retries += 1
