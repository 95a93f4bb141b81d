"""Settings of an evaluation of utility, and records as the judge needs them: one question, and the context in several variants.

The variants are those of the masked format (``corpus.formats.masked``): ``original``; ``relevance_aware``, where values that matter to
the question stay and all others are typed placeholders; ``all_masked``, where all values are typed placeholders, so that it differs
from the one before in what it masks and not in how; and ``surrogates``. The question is masked or replaced in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from pydantic import field_validator, model_validator

from piiloom.corpus.formats.masked import masked_row
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.record import Record
from piiloom.corpus.store import StoreSettings
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import AnyPath, OptionalPath, Settings, Words, setting
from piiloom.providers.errors import AuthFailed
from piiloom.providers.factory import KINDS, choose_model, make_priced_provider
from piiloom.providers.model_calls import CALLS, JUDGES, MODEL, MONEY, Address, JudgeCalls, ModelCalls, Prices
from piiloom.providers.prices import ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entity_types import Taxonomy

ORIGINAL: Final = "original"
# The names of the variants, with their keys in a row of the masked format (None: the row itself).
_KEYS: Final[Mapping[str, str | None]] = {
    ORIGINAL: None,
    "relevance_aware": "relevance_aware",
    "all_masked": "typed",
    "surrogates": "surrogates",
}
VARIANTS: Final = tuple(_KEYS)

NO_QUESTION: Final = "no question"
NO_RELEVANCE: Final = "no span with a relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A variant: what stands in the place of context and question."""

    context: str
    question: str

    @property
    def whole(self) -> str:
        """Both together: all that leaves the machine when the question is asked."""
        return f"{self.context}\n{self.question}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFact:
    """A value, as it stands in the original context, and its type."""

    value: str
    entity_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityCase:
    """A record with its variants.

    ``cluster`` is the document that it belongs to: records of one text with several questions are one document. ``needed`` are the values
    of high relevance, ``protected`` all others: those that ``relevance_aware`` masks at every mention. Both without repetition.
    """

    id: str
    cluster: str
    shown: Mapping[str, Shown]
    needed: tuple[CaseFact, ...]
    protected: tuple[CaseFact, ...]

    @property
    def original(self) -> Shown:
        """Context and question as they are."""
        return self.shown[ORIGINAL]

    def first_alike(self, variant: str) -> str:
        """Return the first variant that shows the same as *variant*, often itself. They share all that is asked about them."""
        return next(name for name, shown in self.shown.items() if shown == self.shown[variant])

    @property
    def distinct(self) -> tuple[str, ...]:
        """The variants that show something that none before them shows."""
        return tuple(name for name in self.shown if self.first_alike(name) == name)


def checked_variants(names: Sequence[str]) -> tuple[str, ...]:
    """Return *names* in the order of ``VARIANTS``, with "original". Raises ``UsageError`` for an unknown one, or if only one is named."""
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        raise UsageError(f"there is no variant {unknown[0]!r}", where="--variants", remedy=f"Choose from {', '.join(VARIANTS)}")
    wanted = tuple(name for name in VARIANTS if name in names or name == ORIGINAL)
    if len(wanted) < 2:
        raise UsageError("there is nothing to compare", where="--variants", remedy="Name a second one, as in original,relevance_aware")
    return wanted


def utility_cases(
    records: Iterable[Record], taxonomy: Taxonomy, variants: Sequence[str] = VARIANTS
) -> tuple[list[UtilityCase], Counter[str]]:
    """Return the cases of *records*, and how many records were left out for which reason.

    *taxonomy* has the types of their spans; *variants* are as ``checked_variants`` gives them. Raises ``DataError`` if a record id repeats.
    """
    cases: dict[str, UtilityCase] = {}
    left_out: Counter[str] = Counter()
    for record in records:
        if record.id in cases:
            raise DataError("two records have this id", where=record.id, remedy="Give each record an id of its own")
        if not (record.question or "").strip():
            left_out[NO_QUESTION] += 1
        elif not any(span.relevance for span in record.spans):
            left_out[NO_RELEVANCE] += 1
        else:
            cases[record.id] = _case(record, taxonomy, variants)
    return list(cases.values()), left_out


def _case(record: Record, taxonomy: Taxonomy, variants: Sequence[str]) -> UtilityCase:
    row: Any = masked_row(record, taxonomy)[0]
    parts = {name: row if _KEYS[name] is None else row[_KEYS[name]] for name in variants}
    facts: dict[CaseFact, bool] = {}
    for span in record.spans:
        fact = CaseFact(value=span.text_in(record.context), entity_type=span.entity_type)
        facts[fact] = facts.get(fact, False) or span.relevance == "high"
    return UtilityCase(
        id=record.id,
        cluster=record.contrast_group or record.id,
        shown={name: Shown(context=part["text"], question=part["question"]) for name, part in parts.items()},
        needed=tuple(fact for fact, high in facts.items() if high),
        protected=tuple(fact for fact, high in facts.items() if not high),
    )


OFFLINE: Final = "offline"
_NO_KEY: Final = "Set the key, or leave --provider out: then a rule stands in for the judge, and is labelled so"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model: ``price`` has the form of --price, in USD per million tokens."""

    provider: str
    model: str | None = None
    base_url: str | None = None
    price: str | None = None

    @property
    def name(self) -> str:
        """The model's name, the provider's default one if none is given. Raises ``UsageError`` if there is neither."""
        return choose_model(self.provider, self.model)

    def spec(self) -> ModelSpec:
        """Return the prices and limits of the model; no key is needed. Raises ``UsageError`` for an unknown provider."""
        if self.provider not in KINDS:
            remedy = f"Choose one of {', '.join(KINDS)}, or {OFFLINE} (a rule in place of a judge)"
            raise UsageError(f"there is no LLM provider {self.provider!r}", where="--provider", remedy=remedy)
        return load_models().resolve(self.provider, self.name, parse_prices(self.price) if self.price else None)

    def connect(self, settings: UtilitySettings) -> Provider:
        """Return the provider. Raises ``AuthFailed`` without a key, ``UsageError`` without a price that is needed."""
        self.spec()  # raises for an unknown provider
        try:
            return make_priced_provider(self.provider, settings, model=self.model, base_url=self.base_url, price=self.price)
        except AuthFailed as error:
            error.remedy = _NO_KEY
            raise


class SecondJudge(Settings):
    """A second judge, which compares the pairs of answers, too."""

    second_judge_provider: str | None = setting(
        None, "Provider of a second judge, which compares the answers, too; the agreement of both is reported.", panel=JUDGES, advanced=True
    )
    second_judge_model: str | None = setting(
        None, "Model of the second judge; alone: another model of the provider that answers.", panel=JUDGES, advanced=True
    )
    second_judge_base_url: Address = setting(
        None, "Address of the second judge's compatible server.", metavar="URL", panel=JUDGES, advanced=True
    )
    second_judge_price: Prices = setting(None, "Prices of the second judge, in the form of --price.", panel=JUDGES, advanced=True)


class UtilitySettings(StoreSettings, ModelCalls, JudgeCalls, SecondJudge):
    """Settings of an evaluation of utility. Raises ``UsageError`` for settings that contradict each other.

    Another ``seed`` makes other draws; equal seeds find each other's replies in the file ``replies``.
    """

    panels = (MODEL, JUDGES, CALLS, MONEY)

    split: str | None = setting(None, "Only this split of the release: train, test …", metavar="NAME")
    input_format: str | None = setting(
        None, f"Format of the file ({', '.join(READABLE)}); native or capid by the first row when not given.", metavar="FORMAT"
    )
    types: OptionalPath = setting(None, "File of the own types of the file, where no release.json next to it defines them.", metavar="YAML")
    variants: Words = setting(VARIANTS, "Variants that are compared: original and some of the others.", metavar="NAME,…", kind=str)
    limit: int | None = setting(None, "Only N of the records, drawn by --seed.", flags="--limit -n", metavar="N", ge=1)
    seed: int = setting(7, "Same seed: same sample, same intervals, and kept replies are used again.")
    out: OptionalPath = setting(
        None, "New or empty folder for answers, comparisons with reasons, and tables.", flags="--out -o", metavar="DIR"
    )
    force: bool = setting(False, "Write into a folder that is not empty; a result there is replaced.")
    provider: str = setting(
        OFFLINE, "Provider of the model that answers: openai, anthropic or compatible; offline: a rule replaces the judge.", panel=MODEL
    )
    replies: AnyPath = setting(
        Path("outputs/utility.duckdb"), "DuckDB file in which paid replies are kept, so that none is paid for twice.", metavar="FILE"
    )
    yes: bool = setting(False, "Confirm in advance that the texts may be sent to the providers.", flags="--yes -y")

    @field_validator("variants")
    @classmethod
    def _checked(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return checked_variants(names)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.provider == OFFLINE:
            if self.judge or self.second_judge or self.model or self.base_url:
                remedy = "Name openai, anthropic or compatible, or leave it out"
                raise UsageError("no model is asked offline", where="--provider", remedy=remedy)
            return self
        for judge, option in ((self.judge, "--judge"), (self.second_judge, "--second-judge")):
            field = option[2:].replace("-", "_")
            if judge is None and (getattr(self, f"{field}_base_url") or getattr(self, f"{field}_price")):
                remedy = f"Add {option}-model or {option}-provider"
                raise UsageError("no separate judge is named", where=f"{option}-base-url, {option}-price", remedy=remedy)
        for model in (self.author, self.judge, self.second_judge):
            if model is not None:
                model.spec()
        first = self.judge or self.author
        second = self.second_judge
        if second and (second.provider, second.name, second.base_url) == (first.provider, first.name, first.base_url):
            raise UsageError("both judges are the same model", where="--second-judge-model", remedy="Name another model")
        return self

    @property
    def author(self) -> ModelChoice:
        """The model that answers."""
        return ModelChoice(provider=self.provider, model=self.model, base_url=self.base_url, price=self.price)

    @property
    def judge(self) -> ModelChoice | None:
        """The model that judges; None for the model that answers."""
        return self._choice(self.judge_provider, self.judge_model, self.judge_base_url, self.judge_price)

    @property
    def second_judge(self) -> ModelChoice | None:
        """The second judge, if there is one."""
        return self._choice(self.second_judge_provider, self.second_judge_model, self.second_judge_base_url, self.second_judge_price)

    def _choice(self, provider: str | None, model: str | None, base_url: str | None, price: str | None) -> ModelChoice | None:
        if provider is None and model is None:
            return None
        url = base_url or (self.base_url if provider in {None, self.provider} else None)
        return ModelChoice(provider=provider or self.provider, model=model, base_url=url, price=price)
