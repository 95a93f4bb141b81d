"""Settings of an evaluation of utility: the records, the models, and how they are asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from pydantic import field_validator, model_validator

from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.store import StoreSettings
from piiloom.evaluation.utility.cases import VARIANTS, checked_variants
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, OptionalPath, Settings, Words, setting
from piiloom.providers.errors import AuthFailed
from piiloom.providers.factory import KINDS, choose_model, make_priced_provider
from piiloom.providers.model_calls import CALLS, JUDGES, MODEL, MONEY, Address, JudgeCalls, ModelCalls, Prices
from piiloom.providers.prices import ModelSpec, load_models, parse_prices
from piiloom.providers.protocol import Provider

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
