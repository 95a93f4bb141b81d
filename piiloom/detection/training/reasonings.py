"""Training sets for verifiers, as ``piiloom export --format verifier`` makes them, with reasonings that a model writes.

A candidate whose truth is known is judged as a verifier would judge it, up to six times, until a reasoning ends in the right verdict; the
model is not told that it was wrong. If none does, the answer is T by default: of a right candidate with the reasoning that rules write; of
a wrong one with the model's own, which takes it for right as often as it was asked, so that the candidate is doubtful, not the model.

A folder for each split has ``verifier_1.jsonl`` and ``verifier_2.jsonl``; a row answers the same in both. ``counts.json``, which is written
last, says how many rows there are, which kinds of wrong candidates, how many reasonings came at which try, and what was left to rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from piiloom.corpus.formats.base import LossEntry
from piiloom.corpus.formats.instruction_tuning import chat_row, verifying
from piiloom.corpus.formats.native_rows import row_line
from piiloom.corpus.formats.verifier import (
    BLANK,
    COUNTS,
    FILES,
    NO_TWIN,
    Candidate,
    asked_of,
    chosen_candidates,
    counts_of,
    found_candidates,
    reasoning,
)
from piiloom.corpus.record import TRAIN, VALIDATION, Record, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.detection.asking import CallsSoFar, ModelAsker, ModelSession, in_session
from piiloom.detection.detector_settings import OF_MODELS, ModelSettings
from piiloom.detection.training.training_data import read_file, read_input
from piiloom.detection.training.training_options import ReasoningOptions
from piiloom.detection.verifying_detector import INSTRUCTIONS, SETTINGS, TEMPLATE, VerifierVerdict, read_verdict
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import AGAIN, Fault, Lost
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.errors import DataError, Interrupted, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.foundation.whole_files import check_folder, drafted, write_folder
from piiloom.foundation.words import counted
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
    watch: Callable[[CallsSoFar], object] = noop,
    policy: CallPolicy | None = None,
) -> WrittenReasonings:
    """Have *cases* reasoned about; *digest* is that of their records: the same data and settings are one run, with one budget.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case.
    """
    rows: list[Reasoned] = []

    async def ask(session: ModelSession, stop: StopSignal) -> bool:
        def consume(row: Reasoned) -> None:
            rows.append(row)
            watch(CallsSoFar("reasonings", len(rows), len(cases), session.channel.calls.totals))

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


DEFAULTS: Final = ("T", "drop")  # what becomes of a wrong candidate that the model always takes for right


def check_sets_place(out: Path, *, force: bool) -> None:
    """Raise ``OutputError`` if *out* is not a folder, or not empty (allowed with *force*, and after a run that was killed at writing)."""
    unfinished = out.is_dir() and {one.name for one in out.iterdir()} <= {TRAIN, VALIDATION}
    check_folder(out, force=force or unfinished)


def make_training_sets(
    out: Path,
    asked: ReasoningOptions,
    *,
    force: bool,
    agree: Callable[[str], object],
    watching: Callable[[], AbstractContextManager[Callable[[CallsSoFar], object]]],
    tell: Callable[[str], object] = noop,
    opening: Callable[[Path], AbstractContextManager[Store]] = open_to_read,
) -> tuple[dict[str, Any], list[str], WrittenReasonings]:
    """Have the reasonings written and write the files to *out*; return the counts, the files, and what was asked and paid.

    Without a provider nothing is sent, and rules write the reasonings. *agree* is called with a description of the texts that would be
    sent, and raises ``UsageError`` to refuse; *watching* opens a view of the progress. Faults of the options are found before that.
    """
    model = asked.part(ModelSettings)
    if model.provider is not None:
        model.spec()
    elif given := [name for name in OF_MODELS if getattr(model, name) is not None]:
        raise UsageError("no model is asked", where=ModelSettings.option_name(given[0]), remedy="Name its --provider, or leave it out")
    if not asked.invented and asked.predictions is None:
        raise UsageError("there would be no candidate", where="--no-invented", remedy="Add --predictions FILE, or leave it out")
    if asked.default not in DEFAULTS:
        raise UsageError(f"{asked.default!r} is no default", where="--default", remedy=f"Choose one of {', '.join(DEFAULTS)}")
    check_sets_place(out, force=force)
    data = read_input(asked, asked.seed, tell=tell, opening=opening)
    splits = {TRAIN: data.train, VALIDATION: data.validation} if data.validation else {TRAIN: data.train}
    lost: dict[str, list[LossEntry]] = {split: [] for split in splits}
    findings = None if asked.predictions is None else FoundIn(asked.predictions, [one for split in splits.values() for one in split])
    cases = {
        split: list(reasoning_cases(records, lost[split], data.taxonomy, findings, invented=asked.invented))
        for split, records in splits.items()
    }
    total = sum(map(len, cases.values()))
    if not total:
        raise DataError(
            "no finding and no span gives a candidate" if findings else "no span has a wrong candidate beside it",
            where=str(out),
            remedy="Give records with longer texts" + (", or more findings" if findings else ""),
        )
    every = [one for split in cases.values() for one in split]
    if model.provider is None:
        written = WrittenReasonings(rows=tuple(map(ruled, every)), run_id="", totals=CallTotals())
    else:
        agree(f"the texts of {counted(total, 'candidate')} would be sent to {model.recipient}; replies are kept in {model.replies}")
        name = data.digest if findings is None else digest(data.digest, findings.sha256, asked.invented)
        with watching() as watch:
            written = write_reasonings(every, model, digest=name, watch=watch)
    files: list[str] = []
    counts: dict[str, Any] = {"by": f"{model.provider} {model.name}" if model.provider else "rules", "default": asked.default, "splits": {}}
    at = 0
    # Without this file the folder is not complete; the file of an earlier run would claim that it is.
    (out / COUNTS).unlink(missing_ok=True)
    for split, own in cases.items():
        made = written.rows[at : at + len(own)]
        at += len(own)
        kept = [one for one in made if asked.default != "drop" or one.right == one.case.candidate.right]
        files += map(str, write_split(out, split, kept))
        counts["splits"][split] = counted_rows(kept, made, sum(one.reason in {NO_TWIN, BLANK} for one in lost[split]))
        if findings is not None:
            counts["splits"][split]["findings"] = findings.counts(splits[split], own)
    counts["data"] = dict(data.about)
    files.append(str(write_counts(out, counts)))
    return counts, files, written


class FoundIn:
    """The findings of the file *path*, native rows, by record: that of the same id, or else of the same text.

    Raises ``DataError`` for rows that cannot be read or whose text differs from that of their record, and if no row is of *records*.
    """

    def __init__(self, path: Path, records: Iterable[Record]) -> None:
        read = read_file(path, None, skip_values=False, where="--predictions")
        self.sha256 = read.sha256
        self._by_id = {one.id: one for one in read.records}
        self._by_text = {one.context: one for one in read.records}
        known = {record.id: self._row(record) for record in records}
        if not any(known.values()):
            raise DataError("no row is of a text to train on", where=str(path), remedy="Run the detector on the records to train on")
        for record in records:
            if (row := known[record.id]) is not None and row.context != record.context:
                raise DataError(f"the row {row.id!r} has another text than its record", where=str(path), remedy="Run the detector again")

    def __call__(self, record: Record) -> Sequence[Span]:
        """Return the findings in *record*."""
        row = self._row(record)
        return row.spans if row is not None else ()

    def _row(self, record: Record) -> Record | None:
        return self._by_id.get(record.id) or self._by_text.get(record.context)

    def counts(self, records: Sequence[Record], cases: Iterable[ReasoningCase]) -> dict[str, int]:
        """Return the numbers of right and wrong findings, of spans that were not found, and of *records* without a row."""
        found = Counter("T" if one.candidate.right else "F" for one in cases if one.candidate.found)
        missed = sum(len(one.spans) for one in records) - found["T"]
        return {
            "T": found["T"],
            "F": found["F"],
            "spans not found": missed,
            "records without a row": sum(not self._row(r) for r in records),
        }


def write_split(out: Path, split: str, rows: Sequence[Reasoned]) -> list[Path]:
    """Write the two files of *split*, and return their paths. Raises ``OutputError``."""
    labels, reasons = [], []
    for one in rows:
        asked, answer = one.case.asked, "T" if one.right else "F"
        said = json.dumps({"reasoning": one.reasoning, "answer": answer}, ensure_ascii=False)
        labels.append(row_line(chat_row(verifying(one.case.taxonomy, reasoned=False), asked, answer)))
        reasons.append(row_line(chat_row(verifying(one.case.taxonomy, reasoned=True), asked, said)))
    write_folder(out / split, dict(zip(FILES, (b"".join(labels), b"".join(reasons)), strict=True)))
    return [out / split / name for name in FILES]


def write_counts(out: Path, counts: Mapping[str, Any]) -> Path:
    """Write ``counts.json``: a folder that has it is complete. Raises ``OutputError``."""
    path = out / COUNTS
    with drafted(path) as file:
        file.write((json.dumps(counts, indent=2, ensure_ascii=False) + "\n").encode())
    return path


def counted_rows(kept: Sequence[Reasoned], made: Sequence[Reasoned], without: int) -> dict[str, Any]:
    """Return the counts of a split: rows and kinds as in an export, where the reasonings come from, and at which try they came.

    *made* has also those that were dropped; *without* is the number of spans that have no rows.
    """
    how = Counter(one.how for one in made)
    tries = Counter(one.replies for one in made if one.how == "by the model")
    doubtful = sum(one.right and not one.case.candidate.right for one in made)
    told = counts_of(Counter(one.case.candidate.kind for one in kept))
    answers = Counter("T" if one.right else "F" for one in kept)
    return {
        "rows": len(kept),
        "T": answers["T"],
        "F": answers["F"],
        "wrong candidates by kind": told["F by kind"],
        "reasonings": {name: how[name] for name in HOW},
        "right at try": {str(number): tries[number] for number in sorted(tries)},
        "wrong candidates taken for right": doubtful,
        "dropped": len(made) - len(kept),
        "spans without rows": without,
    }
