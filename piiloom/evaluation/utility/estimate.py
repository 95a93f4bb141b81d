"""What asking would take, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.options import UtilitySettings
from piiloom.evaluation.utility.outcomes import Outcomes
from piiloom.evaluation.utility.tasks import ANSWER, KINDS, LONGEST_ANSWER, PAIR, Task, answer_tasks, judge_tasks
from piiloom.execution.money.budget import prompt_bytes, schema_bytes, worst_case_usd
from piiloom.prompts.library import PromptLibrary, open_library
from piiloom.providers.prices import ModelSpec, load_models
from piiloom.providers.protocol import TokenUsage

# Bytes of a prompt per token; tokens of a usual reply by kind; thinking tokens of a reply, for models that think.
_BYTES_A_TOKEN: Final = 4
_REPLY_TOKENS: Final = {"utility_answer": 110, "utility_judge_pair": 150, "utility_judge_completeness": 50}
_REPLY_TOKENS_A_FACT: Final = 45
_THINKING_TOKENS: Final = 300
_USUAL_ANSWER: Final = 450  # characters: 75 words
_SECOND_PAIRS: Final = f"{PAIR} (second judge)"
_WIDE: Final = "\U0001d54f"  # a character of four bytes, the most that one may have


@dataclass(slots=True, kw_only=True)
class StageEstimate:
    """What one kind of request takes.

    ``about_usd``: usual replies that are all accepted. ``most_usd``: every reply refused and of the greatest length. Both are None if the
    price is unknown.
    """

    stage: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    about_usd: float | None = 0.0
    most_usd: float | None = 0.0

    def add(self, task: Task, longest: Task, library: PromptLibrary, spec: ModelSpec, settings: UtilitySettings) -> None:
        """Add one request; *longest* is the same with answers of the greatest length."""
        call, worst = task.call(library, 0, None), longest.call(library, 0, None)
        given = (prompt_bytes(call.render()) + schema_bytes(call.schema_name, call.schema)) // _BYTES_A_TOKEN
        facts = len(task.variables.get("facts", ()))
        output = _REPLY_TOKENS.get(task.kind, _REPLY_TOKENS_A_FACT * facts) + (_THINKING_TOKENS if spec.thinking_tokens else 0)
        self.calls += 1
        self.input_tokens += given
        self.output_tokens += output
        about = spec.cost_usd(TokenUsage(input=given, output=output), batch=settings.batch)
        most = worst_case_usd(worst, worst.render(), spec, batch=settings.batch)
        self.about_usd = None if about is None or self.about_usd is None else self.about_usd + about
        self.most_usd = None if most is None or self.most_usd is None else self.most_usd + settings.max_attempts * most

    def plus(self, other: StageEstimate) -> StageEstimate:
        """Return the sum of both, under this one's name."""
        unknown = self.about_usd is None or self.most_usd is None or other.about_usd is None or other.most_usd is None
        return StageEstimate(
            stage=self.stage,
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            about_usd=None if unknown else (self.about_usd or 0.0) + (other.about_usd or 0.0),
            most_usd=None if unknown else (self.most_usd or 0.0) + (other.most_usd or 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityEstimate:
    """The estimate by kind of request, and in all. ``prices_dated`` is None if the user gave the prices."""

    stages: tuple[StageEstimate, ...]
    total: StageEstimate
    prices_dated: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return asdict(self) | {"stages": [asdict(stage) for stage in self.stages]}


def estimate_utility(cases: Sequence[Case], settings: UtilitySettings) -> UtilityEstimate:
    """Estimate what *cases* would take. No key is needed. Answers are not known yet: all are taken to be different and of usual length.

    Raises ``UsageError`` for an unknown provider or model.
    """
    library = open_library(settings.prompts)
    author, separate = settings.author.spec(), settings.judge
    judge = author if separate is None else separate.spec()
    stages = {kind: StageEstimate(stage=kind) for kind in (*KINDS, *([_SECOND_PAIRS] if settings.second_judge else []))}
    for case in cases:
        usual, longest = _answers(case, _USUAL_ANSWER, "x"), _answers(case, LONGEST_ANSWER, _WIDE)
        for task, worst in zip(_tasks(case, usual), _tasks(case, longest), strict=True):
            stages[task.kind].add(task, worst, library, author if task.kind == ANSWER else judge, settings)
            if task.kind == PAIR and settings.second_judge is not None:
                stages[_SECOND_PAIRS].add(task, worst, library, settings.second_judge.spec(), settings)
    total = StageEstimate(stage="total")
    for stage in stages.values():
        total = total.plus(stage)
    given = settings.price or settings.judge_price or settings.second_judge_price
    return UtilityEstimate(stages=tuple(stages.values()), total=total, prices_dated=None if given else load_models().dated.isoformat())


def _tasks(case: Case, answers: Outcomes) -> Iterator[Task]:
    yield from answer_tasks(case)
    yield from judge_tasks(case, answers)


def _answers(case: Case, size: int, filler: str) -> Outcomes:
    """Return answers of *size* characters, all different."""
    return Outcomes(answers={(case.id, name): f"{name} ".ljust(size, filler) for name in case.distinct})
