"""The requests: what is asked about a case, with which template, and what a usable reply is.

Also what was said: by models, by exact values that a text has, and by the rule that stands in where no model is asked.

The stand-in writes no answers and judges nothing. Of two variants, the one that still has more of the highly relevant values is taken to
answer better; if both have the same share, it is a tie. So it measures what was left in the context, not whether an answer is any good,
and everything it gives is labelled: ``LABEL`` in tables, ``NAME`` in rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final, Literal, TypeVar

from piiloom.corpus.mention_search import stands_alone
from piiloom.evaluation.utility.options import UtilityCase
from piiloom.execution.calls import Fault, Lost, prompt_call
from piiloom.foundation.words import content_words
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import JsonSchema, PromptCall, SamplingSettings

K = TypeVar("K")
R = TypeVar("R")
Better = Literal["first", "second", "tie"]
# How a pair ended for its first variant. The last four are ties; the last two of these show that the judge was not sure.
PairResult = Literal["win", "loss", "agreed", "identical", "position", "split"]
TIES: Final[tuple[PairResult, ...]] = ("agreed", "identical", "position", "split")
_RESULTS: Final[Mapping[tuple[Better, Better], PairResult]] = {
    ("first", "second"): "win",
    ("second", "first"): "loss",
    ("tie", "tie"): "agreed",
    ("first", "first"): "position",
    ("second", "second"): "position",
    ("first", "tie"): "split",
    ("tie", "first"): "split",
    ("second", "tie"): "split",
    ("tie", "second"): "split",
}
NAME: Final = "stand-in"
LABEL: Final = "stand-in (a rule, no judge): the share of highly relevant values that a variant still tells"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """Which of two answers is better, by its position, and why."""

    better: Better
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """How completely an answer answers the question: 0 to 1."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """How far one protected fact can be learned from the context and from the answer, each 0 to 1."""

    context: float
    answer: float
    reason: str


@dataclass(slots=True)
class UtilityOutcomes:
    """All that was asked, by case id and variant; a ``Lost`` says why there is no usable reply.

    ``verdicts`` are by case id, the variant of the first answer, and that of the second; ``second_verdicts`` are those of a second
    judge. ``disclosures`` have an entry for each protected fact. Variants that show the same are asked about once, under the first of
    them (``UtilityCase.first_alike``).
    """

    answers: dict[tuple[str, str], str | Lost] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], PairVerdict | Lost] = field(default_factory=dict)
    second_verdicts: dict[tuple[str, str, str], PairVerdict | Lost] = field(default_factory=dict)
    grades: dict[tuple[str, str], Grade | Lost] = field(default_factory=dict)
    disclosures: dict[tuple[str, str], tuple[Disclosed, ...] | Lost] = field(default_factory=dict)
    # How many replies were refused by the checks and asked for again.
    asked_again: int = 0

    def answer(self, case_id: str, variant: str) -> str | None:
        """Return the answer, or None if there is no usable one."""
        return usable(self.answers, (case_id, variant))

    def pair(self, case_id: str, one: str, other: str, *, second: bool = False) -> PairResult | None:
        """Return how the pair ended for *one*, by the *second* judge if asked for; None if an answer or a verdict is missing.

        Both are distinct variants or the same one.
        An answer wins only if it is found better in both orders. "position": both verdicts name the same position. "split": one names
        an answer, the other is a tie. Equal answers are not asked about.
        """
        mine, theirs = self.answer(case_id, one), self.answer(case_id, other)
        if mine is None or theirs is None:
            return None
        if mine == theirs:
            return "identical"
        verdicts = self.second_verdicts if second else self.verdicts
        forth, back = usable(verdicts, (case_id, one, other)), usable(verdicts, (case_id, other, one))
        return None if forth is None or back is None else _RESULTS[forth.better, back.better]


def usable(found: Mapping[K, R | Lost], key: K) -> R | None:
    """Return what was said under *key*; None if it was not asked, or not answered in a usable way."""
    said = found.get(key)
    return None if isinstance(said, Lost) else said


def tells(text: str, value: str) -> bool:
    """Whether *value* stands in *text* as a whole word, in any case. A blank value stands nowhere."""
    if not value.strip():
        return False
    return any(stands_alone(text, *found.span()) for found in re.finditer(re.escape(value.strip()), text, re.IGNORECASE))


def told_share(text: str, values: Collection[str]) -> float | None:
    """Return the share of *values* that *text* tells; None if there are none."""
    return sum(tells(text, value) for value in values) / len(values) if values else None


def word_overlap(text: str, original: str) -> float | None:
    """Return the share of the content words of *original* that *text* has, too; None if it has none."""
    wanted = content_words(original)
    return len(wanted & content_words(text)) / len(wanted) if wanted else None


def kept_share(case: UtilityCase, variant: str) -> float | None:
    """Return the share of the highly relevant values that *variant* tells; None if the case has none."""
    return told_share(case.shown[variant].whole, [fact.value for fact in case.needed])


def stand_in_pair(case: UtilityCase, one: str, other: str) -> PairResult | None:
    """Return how the rule decides for *one*; None if the case has no highly relevant value."""
    mine, theirs = kept_share(case, one), kept_share(case, other)
    if mine is None or theirs is None:
        return None
    if case.shown[one] == case.shown[other]:
        return "identical"
    return "agreed" if mine == theirs else "win" if mine > theirs else "loss"


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
_SENTENCE_END: Final = re.compile(r"[.!?…]+(?=\s|\Z)|[。！？｡।॥۔؟]+")
_TOKENS_A_FACT: Final = 96
_TEXT: Final = {"type": "string"}
_SCORE: Final = {"type": "integer", "enum": list(range(HIGHEST + 1))}


def _closed(**properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# Schema of the reply to each kind of request, and its most tokens, to which those for each fact are added.
_REPLIES: Final[Mapping[RequestKind, tuple[JsonSchema, int]]] = {
    ANSWER: (_closed(answer=_TEXT), 400),
    PAIR: (_closed(reason=_TEXT, better={"type": "string", "enum": ["first", "second", "tie"]}), 512),
    COMPLETENESS: (_closed(reason=_TEXT, grade=_SCORE), 256),
    DISCLOSURE: (
        _closed(judgements={"type": "array", "items": _closed(id=_TEXT, reason=_TEXT, context=_SCORE, answer=_SCORE)}),
        256,
    ),
}


@dataclass(frozen=True, slots=True)
class UtilityTask:
    """One request. ``key`` is where its result belongs in ``UtilityOutcomes``: case id, then one variant or two."""

    kind: RequestKind
    key: tuple[str, ...]
    variables: Mapping[str, Any]

    def call(self, library: PromptLibrary, attempt: int, fault: str | None) -> PromptCall:
        """Return the call for one *attempt* (from 0); *fault* says what was wrong with the reply before."""
        schema, tokens = _REPLIES[self.kind]
        return prompt_call(
            library.find(self.kind),
            self.variables,
            stage=self.kind,
            schema_name=self.kind,
            schema=schema,
            item_id=" ".join(self.key),
            attempt=attempt,
            fault=fault,
            settings=SamplingSettings(max_output_tokens=tokens + _TOKENS_A_FACT * len(self.variables.get("facts", ()))),
        )

    def read(self, data: Any) -> str | PairVerdict | Grade | tuple[Disclosed, ...]:
        """Turn the data of a reply into the result; raises ``Fault`` if it is not usable."""
        if self.kind == ANSWER:
            return _read_answer(data)
        if self.kind == PAIR:
            return PairVerdict(better=data["better"], reason=_reason(data["reason"], "the verdict", LONGEST_REASONING))
        if self.kind == COMPLETENESS:
            return Grade(score=data["grade"] / HIGHEST, reason=_reason(data["reason"], "the grade"))
        return _read_disclosures(data, [fact["id"] for fact in self.variables["facts"]])


def answer_tasks(case: UtilityCase) -> Iterator[UtilityTask]:
    """Yield a request for an answer from each variant that shows something of its own."""
    for variant in case.distinct:
        shown = case.shown[variant]
        yield UtilityTask(ANSWER, (case.id, variant), {"post": shown.context, "question": shown.question})


def judge_tasks(case: UtilityCase, outcomes: UtilityOutcomes) -> Iterator[UtilityTask]:
    """Yield what is asked of the judge: each pair of different answers in both orders, and grades of each answer.

    A variant without a usable answer is in none of them.
    """
    yield from pair_tasks(case, outcomes)
    facts = [
        {"id": f"f{number}", "value": fact.value, "kind": fact.entity_type.replace("_", " ")}
        for number, fact in enumerate(case.protected, 1)
    ]
    for variant, answer in _answers(case, outcomes).items():
        shown, key = case.shown[variant], (case.id, variant)
        yield UtilityTask(COMPLETENESS, key, {"post": case.original.context, "question": case.original.question, "answer": answer})
        if facts:
            yield UtilityTask(DISCLOSURE, key, {"post": shown.context, "question": shown.question, "answer": answer, "facts": facts})


def pair_tasks(case: UtilityCase, outcomes: UtilityOutcomes) -> Iterator[UtilityTask]:
    """Yield each pair of different answers, in both orders."""
    answers = _answers(case, outcomes)
    for one, other in combinations(answers, 2):
        if answers[one] != answers[other]:
            for first, second in ((one, other), (other, one)):
                asked = {"post": case.original.context, "question": case.original.question}
                yield UtilityTask(PAIR, (case.id, first, second), asked | {"first": answers[first], "second": answers[second]})


def _answers(case: UtilityCase, outcomes: UtilityOutcomes) -> dict[str, str]:
    return {name: answer for name in case.distinct if (answer := outcomes.answer(case.id, name)) is not None}


def _read_answer(data: Any) -> str:
    text: str = data["answer"].strip()
    if not text:
        raise Fault("empty", "the answer is empty")
    sentences = len(_SENTENCE_END.findall(text))
    if len(text) > LONGEST_ANSWER or sentences > _MOST_SENTENCES:
        raise Fault("long_answer", f"the answer has {len(text)} characters and {sentences} sentences; about three sentences are wanted")
    return text


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
