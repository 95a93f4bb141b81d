"""The requests: what is asked about a case, with which template, and what a usable reply is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

from piiloom.evaluation.utility.cases import UtilityCase
from piiloom.evaluation.utility.outcomes import Disclosed, Grade, PairVerdict, UtilityOutcomes
from piiloom.execution.calls import Fault, prompt_call
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import JsonSchema, PromptCall, SamplingSettings

RequestKind = Literal["utility_answer", "utility_judge_pair", "utility_judge_completeness", "utility_judge_disclosure"]
ANSWER: Final = "utility_answer"
PAIR: Final = "utility_judge_pair"
COMPLETENESS: Final = "utility_judge_completeness"
DISCLOSURE: Final = "utility_judge_disclosure"
# Each is the name of a template, of its schema, and of the stage in the journal.
KINDS: Final[tuple[RequestKind, ...]] = (ANSWER, PAIR, COMPLETENESS, DISCLOSURE)

HIGHEST: Final = 4
LONGEST_ANSWER: Final = 1500
_MOST_SENTENCES: Final = 6  # about three are wanted; abbreviations look like ends, too
LONGEST_REASON: Final = 300
LONGEST_REASONING: Final = 1500
_ANSWER_TOKENS: Final = 400
_VERDICT_TOKENS: Final = 256
_REASONING_TOKENS: Final = 512
_SENTENCE_END: Final = re.compile(r"[.!?…]+(?=\s|\Z)|[。！？｡।॥۔؟]+")
_TOKENS_A_FACT: Final = 96
_TEXT: Final = {"type": "string"}
_SCORE: Final = {"type": "integer", "enum": list(range(HIGHEST + 1))}


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityTask:
    """One request. ``key`` is where its result belongs in ``UtilityOutcomes``: case id, then one variant or two.

    ``read`` turns the data of a reply into the result or raises ``Fault``.
    """

    kind: RequestKind
    key: tuple[str, ...]
    variables: Mapping[str, Any]
    schema: JsonSchema
    max_output_tokens: int
    read: Callable[[Any], Any]

    def call(self, library: PromptLibrary, attempt: int, fault: str | None) -> PromptCall:
        """Return the call for one *attempt* (from 0); *fault* says what was wrong with the reply before."""
        return prompt_call(
            library.find(self.kind),
            self.variables,
            stage=self.kind,
            schema_name=self.kind,
            schema=self.schema,
            item_id=" ".join(self.key),
            attempt=attempt,
            fault=fault,
            settings=SamplingSettings(max_output_tokens=self.max_output_tokens),
        )


def answer_tasks(case: UtilityCase) -> Iterator[UtilityTask]:
    """Yield a request for an answer from each variant that shows something of its own."""
    for variant in case.distinct:
        shown = case.shown[variant]
        variables = {"post": shown.context, "question": shown.question}
        yield UtilityTask(
            kind=ANSWER,
            key=(case.id, variant),
            variables=variables,
            schema=_ANSWER_SCHEMA,
            max_output_tokens=_ANSWER_TOKENS,
            read=_read_answer,
        )


def judge_tasks(case: UtilityCase, outcomes: UtilityOutcomes) -> Iterator[UtilityTask]:
    """Yield what is asked of the judge: each pair of different answers in both orders, and grades of each answer.

    A variant without a usable answer is in none of them.
    """
    yield from pair_tasks(case, outcomes)
    asked = {"post": case.original.context, "question": case.original.question}
    for variant, answer in _answers(case, outcomes).items():
        yield _completeness(case, asked, variant, answer)
        if case.protected:
            yield _disclosure(case, variant, answer)


def pair_tasks(case: UtilityCase, outcomes: UtilityOutcomes) -> Iterator[UtilityTask]:
    """Yield each pair of different answers, in both orders."""
    asked, answers = {"post": case.original.context, "question": case.original.question}, _answers(case, outcomes)
    for one, other in combinations(answers, 2):
        if answers[one] != answers[other]:
            for first, second in ((one, other), (other, one)):
                yield _pair(case, asked, (first, answers[first]), (second, answers[second]))


def _answers(case: UtilityCase, outcomes: UtilityOutcomes) -> dict[str, str]:
    return {name: answer for name in case.distinct if (answer := outcomes.answer(case.id, name)) is not None}


def _pair(case: UtilityCase, asked: Mapping[str, str], first: tuple[str, str], second: tuple[str, str]) -> UtilityTask:
    return UtilityTask(
        kind=PAIR,
        key=(case.id, first[0], second[0]),
        variables={**asked, "first": first[1], "second": second[1]},
        schema=_PAIR_SCHEMA,
        max_output_tokens=_REASONING_TOKENS,
        read=_read_verdict,
    )


def _completeness(case: UtilityCase, asked: Mapping[str, str], variant: str, answer: str) -> UtilityTask:
    return UtilityTask(
        kind=COMPLETENESS,
        key=(case.id, variant),
        variables={**asked, "answer": answer},
        schema=_GRADE_SCHEMA,
        max_output_tokens=_VERDICT_TOKENS,
        read=_read_grade,
    )


def _disclosure(case: UtilityCase, variant: str, answer: str) -> UtilityTask:
    shown = case.shown[variant]
    facts = [
        {"id": f"f{number}", "value": fact.value, "kind": fact.entity_type.replace("_", " ")}
        for number, fact in enumerate(case.protected, 1)
    ]
    return UtilityTask(
        kind=DISCLOSURE,
        key=(case.id, variant),
        variables={"post": shown.context, "question": shown.question, "answer": answer, "facts": facts},
        schema=_DISCLOSURE_SCHEMA,
        max_output_tokens=_VERDICT_TOKENS + _TOKENS_A_FACT * len(facts),
        read=lambda data: _read_disclosures(data, [fact["id"] for fact in facts]),
    )


def _closed(**properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_ANSWER_SCHEMA: Final = _closed(answer=_TEXT)
_PAIR_SCHEMA: Final = _closed(reason=_TEXT, better={"type": "string", "enum": ["first", "second", "tie"]})
_GRADE_SCHEMA: Final = _closed(reason=_TEXT, grade=_SCORE)
_DISCLOSURE_SCHEMA: Final = _closed(judgements={"type": "array", "items": _closed(id=_TEXT, reason=_TEXT, context=_SCORE, answer=_SCORE)})


def _read_answer(data: Any) -> str:
    text: str = data["answer"].strip()
    if not text:
        raise Fault("empty", "the answer is empty")
    sentences = len(_SENTENCE_END.findall(text))
    if len(text) > LONGEST_ANSWER or sentences > _MOST_SENTENCES:
        raise Fault("long_answer", f"the answer has {len(text)} characters and {sentences} sentences; about three sentences are wanted")
    return text


def _read_verdict(data: Any) -> PairVerdict:
    return PairVerdict(better=data["better"], reason=_reason(data["reason"], "the verdict", LONGEST_REASONING))


def _read_grade(data: Any) -> Grade:
    return Grade(score=data["grade"] / HIGHEST, reason=_reason(data["reason"], "the grade"))


def _read_disclosures(data: Any, names: Sequence[str]) -> tuple[Disclosed, ...]:
    found: dict[str, Disclosed] = {}
    for entry in data["judgements"]:
        name = entry["id"]
        if name not in names:
            raise Fault("judged_unknown", f"an entry has an id that is not in the list; the ids are {', '.join(names)}")
        if name in found:
            raise Fault("judged_twice", f"{name} has more than one entry; each id has exactly one")
        reason = _reason(entry["reason"], f"the entry {name}")
        found[name] = Disclosed(context=entry["context"] / HIGHEST, answer=entry["answer"] / HIGHEST, reason=reason)
    missing = [name for name in names if name not in found]
    if missing:
        raise Fault("judged_incompletely", f"there is no entry for {', '.join(missing)}")
    return tuple(found[name] for name in names)


def _reason(text: str, of: str, longest: int = LONGEST_REASON) -> str:
    """Return *text* on one line, shortened; a reason explains a verdict and is not worth a second request if it is long."""
    reason = " ".join(text.split())
    if not reason:
        raise Fault("no_reason", f"{of} gives no reason")
    return reason[:longest]
