"""The one way to call a provider: every reply is kept before it is used, and every verdict on it.

Paid replies are journaled under a key made of all that shapes them, so that a resumed run finds them again and does
not pay twice. Replies of an unpaid provider can be recomputed; of those only the refused ones are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from corpus.store.completions import CompletionRow, ReplyVerdict
from execution.committing import Batch, GroupCommitter
from foundation.errors import ProviderError
from foundation.seeding import digest
from providers.errors import InvalidReply, Refused, ReplyRejected, Truncated
from providers.protocol import Completion, PromptCall, Provider
from providers.replies import BadReply, read_reply

# How the ledger tells apart the answers that cannot be used; a replayed one is the same error again.
REPLY_FAULTS: Mapping[str, type[ReplyRejected]] = {"refused": Refused, "truncated": Truncated, "invalid_reply": InvalidReply}


@dataclass(slots=True)
class CallTotals:
    """What the calls of a run came to. ``replayed`` were found in the journal, ``unpriced`` have no known price."""

    answered: int = 0
    replayed: int = 0
    failed: int = 0
    retries: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A completion, and what identifies it in the ledger."""

    call: PromptCall
    completion: Completion
    key: str
    rendered_sha256: str


class Calls:
    """Completes calls through *provider* and writes the ledger of a run."""

    def __init__(
        self, provider: Provider, committer: GroupCommitter, run_id: str, journal: Mapping[str, CompletionRow] | None = None
    ) -> None:
        self.provider = provider
        self.totals = CallTotals()
        self._committer, self._run_id = committer, run_id
        self._journal = dict(journal or {})

    async def complete(self, call: PromptCall) -> Answer:
        """Answer *call* from the journal or the provider; raises ``ProviderError``, having stored it."""
        if not self.provider.paid:
            completion = await self.provider.complete(call)
            self.totals.answered += 1
            key = digest(self._run_id, call.stage, call.item_id, call.template, call.attempt)
            return Answer(call=call, completion=completion, key=key, rendered_sha256="")
        key, rendered = self._key(call)
        # Taken out: within one sitting no call is made twice, and a long run must not hold all its replies in memory.
        known = self._journal.pop(key, None)
        if known is not None and known.reply is not None:
            self.totals.replayed += 1
            return Answer(call=call, completion=_replayed(call, known), key=key, rendered_sha256=rendered)
        try:
            completion = await self.provider.complete(call)
        except ReplyRejected as error:
            self._count(error.completion)
            await self._keep(self._row(call, key, rendered, error.completion, "error", f"{reply_code(error)}: {error}"))
            raise
        except ProviderError as error:
            self.totals.failed += 1
            await self._keep(replace(self._row(call, key, rendered, None, "error", str(error)), retries=error.retries))
            raise
        self._count(completion)
        await self._keep(self._row(call, key, rendered, completion, None, None))
        return Answer(call=call, completion=completion, key=key, rendered_sha256=rendered)

    def judge(self, answer: Answer, fault: str | None) -> None:
        """Note what the stage's validator made of a reply: *fault*, or None when it was accepted."""
        verdict: ReplyVerdict = "accepted" if fault is None else "refused_by_validator"
        if self.provider.paid:
            self._committer.put(Batch(verdicts=[(answer.key, verdict, fault)]))
        elif fault is not None:
            row = self._row(answer.call, answer.key, answer.rendered_sha256, answer.completion, verdict, fault)
            self._committer.put(Batch(completions=[row]))

    async def _keep(self, row: CompletionRow) -> None:
        await self._committer.commit(Batch(completions=[row]))

    def _key(self, call: PromptCall) -> tuple[str, str]:
        rendered = digest([(message.role, message.content) for message in call.render()])
        settings = (call.settings.max_output_tokens, call.settings.seed)
        provider = (self.provider.name, self.provider.endpoint, self.provider.model)
        # The item is part of the key: two items that happen to send the same prompt want two draws, not one reply.
        return digest(provider, settings, rendered, call.variables, call.schema, call.item_id, call.attempt), rendered

    def _row(
        self, call: PromptCall, key: str, rendered: str, completion: Completion | None, verdict: ReplyVerdict | None, fault: str | None
    ) -> CompletionRow:
        usage = completion.usage if completion else None
        return CompletionRow(
            key=key,
            run_id=self._run_id,
            stage=call.stage,
            item_id=call.item_id,
            attempt=call.attempt,
            provider=self.provider.name,
            endpoint=self.provider.endpoint,
            model=completion.model if completion else self.provider.model,
            template=call.template,
            rendered_sha256=rendered,
            reply=completion.text if completion else None,
            verdict=verdict,
            fault=fault,
            input_tokens=usage.input if usage else 0,
            cached_tokens=usage.cached if usage else 0,
            output_tokens=usage.output if usage else 0,
            cost_usd=completion.cost_usd if completion else None,
            retries=completion.retries if completion else 0,
        )

    def _count(self, completion: Completion) -> None:
        totals = self.totals
        totals.answered += 1
        totals.retries += completion.retries
        totals.input_tokens += completion.usage.input
        totals.output_tokens += completion.usage.output
        if completion.cost_usd is None:
            totals.unpriced += 1
        else:
            totals.cost_usd += completion.cost_usd


def reply_code(error: ReplyRejected) -> str:
    """Name the kind of *error* as rejects and the ledger do."""
    return next((code for code, kind in REPLY_FAULTS.items() if isinstance(error, kind)), "unusable_reply")


def _replayed(call: PromptCall, row: CompletionRow) -> Completion:
    text = row.reply or ""
    plain = Completion(text=text, data=None, model=row.model or "")
    if row.verdict == "error":
        code, _, message = (row.fault or "").partition(": ")
        raise REPLY_FAULTS.get(code, ReplyRejected)(message or "the reply could not be used", completion=plain)
    try:
        return replace(plain, data=read_reply(text, call.schema))
    except BadReply as error:
        raise InvalidReply(str(error), completion=plain) from None
