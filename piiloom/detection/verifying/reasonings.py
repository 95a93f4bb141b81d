"""Have a model write the reasonings of a training set for verifier II, as one run of a store that goes on without paying again.

A candidate whose truth is known is judged as a verifier would judge it, up to six times, until a reasoning ends in the right verdict; the
model is not told that it was wrong. If none does, the answer is T by default: of a right candidate with the reasoning that rules write; of
a wrong one with the model's own, which takes it for right as often as it was asked, so that the candidate is doubtful, not the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from piiloom.corpus.formats.base import LossEntry
from piiloom.corpus.formats.instruction_tuning import verifying
from piiloom.corpus.formats.verifier import Candidate, asked_of, chosen_candidates, found_candidates, reasoning
from piiloom.corpus.record import Record, Span
from piiloom.detection.asking import ModelAsker, ModelSession, in_session
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.verifying.verifying_detector import INSTRUCTIONS, SETTINGS, TEMPLATE, VerifierVerdict, read_verdict
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_totals import CallTotals
from piiloom.execution.calls import AGAIN, Fault, Lost
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.errors import Interrupted
from piiloom.foundation.noop import noop
from piiloom.taxonomy.entity_types import Taxonomy

TRIES: Final = 6
TEMPLATES: Final = (TEMPLATE,)
INSTRUCTION: Final = INSTRUCTIONS[1]
How = Literal["by the model", "T by default", "by rule"]
HOW: Final[tuple[How, ...]] = ("by the model", "T by default", "by rule")


class ReasoningCase(NamedTuple):
    """A candidate to be reasoned about; ``number`` makes its id in the journal, ``taxonomy`` has its type."""

    record: Record
    candidate: Candidate
    number: int
    taxonomy: Taxonomy

    @property
    def asked(self) -> str:
        """The message that the verifier gets."""
        return asked_of(self.record, self.candidate, self.taxonomy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoned:
    """The row of a case: what it answers and why, ``how`` that came about, and how many replies were judged for it.

    ``how``: "by the model", "T by default" (see the module docstring), or "by rule": no reply was usable, none came, or no model was asked.
    """

    case: ReasoningCase
    right: bool
    reasoning: str
    how: How
    replies: int


KnownFindings = Callable[[Record], Sequence[Span]]


def reasoning_cases(
    records: Iterable[Record], lost: list[LossEntry], taxonomy: Taxonomy, findings: KnownFindings | None = None, *, invented: bool = True
) -> Iterator[ReasoningCase]:
    """Yield the candidates of *records*: those of *findings*, if any, then the *invented* ones; append to *lost* what has none."""
    for record in records:
        found = list(found_candidates(record, findings(record))) if findings is not None else []
        places = {one.place for one in found}
        more = [one for one in chosen_candidates(record, lost) if one.place not in places] if invented else []
        for number, candidate in enumerate([*found, *more]):
            yield ReasoningCase(record, candidate, number, taxonomy)


def ruled(case: ReasoningCase) -> Reasoned:
    """Return the row of *case* with the reasoning that rules write."""
    right, why = case.candidate.right, reasoning(case.record, case.candidate, case.taxonomy)
    return Reasoned(case=case, right=right, reasoning=why, how="by rule", replies=0)


async def reasoned(case: ReasoningCase, asker: ModelAsker) -> Reasoned:
    """Ask about *case*. Raises errors that would hit every other request, too."""
    judged: list[VerifierVerdict] = []
    right = case.candidate.right

    def read(reply: str) -> VerifierVerdict:
        verdict = read_verdict(reply, reasoned=True)
        if not verdict.reasoning:
            raise Fault("no_reasoning", 'say first what the text shows: {"reasoning": "…", "answer": "T"} or "F"')
        judged.append(verdict)
        if verdict.right != right:
            raise Fault("wrong_verdict", "")  # an empty message is not shown: the answer must be the model's own
        return verdict

    answer = await asker.ask(
        TEMPLATE,
        {"instruction": verifying(case.taxonomy, reasoned=True), "message": case.asked},
        item_id=f"{case.record.id} {case.record.revision} {case.number}",
        read=read,
        schema=None,
        settings=SETTINGS[True],
    )

    def row(verdict: VerifierVerdict, how: How) -> Reasoned:
        return Reasoned(case=case, right=verdict.right, reasoning=verdict.reasoning, how=how, replies=len(judged))

    if not isinstance(answer, Lost):
        return row(answer, "by the model")
    by_rule = ruled(case)
    if not judged:
        return by_rule
    return row(VerifierVerdict(right, by_rule.reasoning) if right else judged[-1], "T by default")


Watch = Callable[["ReasoningProgress"], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningProgress:
    """Of ``total`` candidates ``done`` have a reasoning; ``spent_usd`` is that of all sessions."""

    done: int
    total: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        return f"reasonings {self.done:,}/{self.total:,}, {self.replayed:,} replies from the store, ${self.spent_usd:.4f} spent"


KIND = "verifier-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReasonings:
    """The rows in the order of the cases, and what all sessions of the run asked and paid."""

    rows: tuple[Reasoned, ...]
    run_id: str
    totals: CallTotals


def write_reasonings(
    cases: Sequence[ReasoningCase],
    model: ModelSettings,
    *,
    digest: str,
    watch: Callable[[ReasoningProgress], object] = noop,
    policy: CallPolicy | None = None,
) -> WrittenReasonings:
    """Have *cases* reasoned about; *digest* is that of their records: the same data and settings are one run, with one budget.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case.
    """
    rows: list[Reasoned] = []

    async def ask(session: ModelSession, stop: StopSignal) -> bool:
        totals = session.channel.calls.totals

        def consume(row: Reasoned) -> None:
            rows.append(row)
            watch(ReasoningProgress(done=len(rows), total=len(cases), replayed=totals.replayed, spent_usd=totals.spent_usd))

        await OrderedRun(
            source=iter(cases),
            work=lambda case: reasoned(case, session.asker),
            consume=consume,
            concurrency=model.concurrency,
            stop=stop,
            gauge=session.channel.items,
        ).run()
        return len(rows) == len(cases)

    settings = model.model_copy(update={"run": digest})
    session, finished = in_session(settings, TEMPLATES, ask, instructions=(INSTRUCTION,), kind=KIND, policy=policy)
    if not finished:
        raise Interrupted("stopped at once", remedy=AGAIN)
    return WrittenReasonings(rows=tuple(rows), run_id=session.run_id, totals=session.channel.calls.totals)
