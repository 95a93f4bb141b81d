"""The settings of a run as one immutable object; ``setting_checks`` builds and checks it, ``digests`` fingerprints it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from piiloom.foundation.errors import DataError, UsageError
from piiloom.generation.settings.composer_settings import ComposerSettings
from piiloom.generation.settings.own_type_checks import REMEDY, check_tellable, check_writable, types_in_bank
from piiloom.generation.settings.sampling import ExtraBody, StageSampling, Temperature, TopP
from piiloom.providers.factory import KINDS
from piiloom.providers.prices import parse_prices
from piiloom.providers.protocol import SamplingSettings
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.own_type_asides import types_for_asides, with_own_frames
from piiloom.taxonomy.own_types import OwnTypes, extended, from_json
from piiloom.taxonomy.own_types_file import has_bank, read_types_file
from piiloom.taxonomy.registers import load_registers
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank

# Which stages make a record (see ``generation.stages.pipeline``).
RecipeName = Literal["staged", "case", "story"]
PROVIDERS: tuple[str, ...] = ("composer", *KINDS)
_AS_EVER = SamplingSettings()


class RunConfig(BaseModel):
    """Settings of a run; all have defaults. Unknown keys, types, pairs and locales are refused.

    Those listed in ``CHANGEABLE_SETTINGS`` say how much, how fast, where and at what price, never what: they are no part of the digest,
    so a run can be resumed with more samples or a larger budget, and gives the same bytes at every concurrency, and from
    a server that has moved to another host or port.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(default=100, ge=1)
    provider: str = "composer"
    model: str | None = None
    base_url: str | None = None
    pairs: str = "all"
    locale: str = "en_US"
    seed: int = 7
    concurrency: int = Field(default=16, ge=1, le=4096)
    topics_per_pair: int = Field(default=10, ge=1, le=100)
    subtopics_per_topic: int = Field(default=20, ge=1, le=100)
    values: Literal["code", "llm"] = "code"
    # Default: "story" for the composer, "case" for a model.
    recipe: RecipeName = "story"
    # Records per text, each with its own question (not for the recipe "staged"); None: two.
    questions_per_text: int | None = Field(default=None, ge=1, le=4)
    # What to do when the judge of the recipe "case" contradicts a label; None: redo.
    on_disagreement: Literal["redo", "reject", "relabel"] | None = None
    max_attempts: int = Field(default=3, ge=1, le=20)
    max_low: int = Field(
        default=8, ge=0, le=8, description="How many low-relevance values a record holds at most (recipes staged and case)."
    )
    situation_words: tuple[int, int] | None = Field(
        default=None, description="Recipe staged: fewest and most words of a situation; null: planned item by item."
    )
    peripheral_words: tuple[int, int] | None = Field(
        default=None, description="Recipe staged: fewest and most words of an aside; null: planned item by item."
    )
    question_words: tuple[int, int] = Field(default=(4, 60), description="Fewest and most words of a question (recipes staged and case).")
    registers: tuple[str, ...] = Field(
        default=tuple(load_registers()),
        description="Recipes staged and case: the kinds of text that are written, each as often as it weighs.",
    )
    bank: Path | None = None
    composer: ComposerSettings = Field(
        default=ComposerSettings(),
        description="What the composer leaves out, for measurements: personas, distractors, scenarios_per_pair, value_draws.",
    )
    margin: float = Field(
        default=0.1, ge=0, le=10, description="Topics and subtopics are asked for this share of items more, to replace what is rejected."
    )
    # Requests and tokens per minute that the account allows; limits in the server's headers apply as well.
    rpm: float | None = Field(default=None, gt=0)
    tpm: float | None = Field(default=None, gt=0)
    # Timeout of one request, in seconds.
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    # How a compatible server is asked for JSON; auto: whatever a probe before the run finds to work.
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    # Hard limit for the whole run, in USD; prices of an unlisted model ("input=0.5,output=1.5", USD per million tokens).
    budget_usd: float | None = Field(default=None, gt=0)
    price: str | None = None
    unpriced: bool = False
    # Send by the provider's batch API: half the price, within a day.
    batch: bool = False
    stop_after: int = Field(
        default=30,
        ge=0,
        description="A paid run stops after this many rejects for one reason with no record accepted in between; 0: never.",
    )
    # Which checks a model makes on finished records.
    judges: tuple[Literal["relevance", "leak"], ...] = ()
    # A separate judge, if it is not the model that writes: its provider, model, URL and prices.
    judge_provider: str | None = None
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_price: str | None = None
    # A detector that looks for unlisted values in finished records, from which score on (None: 0.9), and what comes of it (None: flag).
    screen_model: Path | None = None
    screen_threshold: float | None = Field(default=None, ge=0, le=1)
    on_unlisted: Literal["flag", "reject"] | None = None
    # A folder with the user's own prompt templates.
    prompts: Path | None = None
    # Sampling settings for all stages; None: the provider's default.
    temperature: Temperature = None
    top_p: TopP = None
    extra_body: ExtraBody = None
    sampling: dict[str, StageSampling] = Field(
        default={}, description="Settings of single stages, which stand in place of temperature, top_p and extra_body."
    )
    # The user's own entity types: given as a YAML file, kept as definitions.
    types: OwnTypes = ()

    @model_validator(mode="before")
    @classmethod
    def _recipe_of_provider(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        types = given.get("types")
        if isinstance(types, str | Path) and given.get("provider", "composer") == "composer" and given.get("bank") is None:
            given = {**given, "bank": types} if has_bank(Path(types)) else given
        if given.get("recipe") is not None:
            return given
        return {**given, "recipe": "story" if given.get("provider", "composer") == "composer" else "case"}

    @field_validator("situation_words", "peripheral_words", "question_words")
    @classmethod
    def _ordered(cls, band: tuple[int, int] | None) -> tuple[int, int] | None:
        if band is not None and not 1 <= band[0] <= band[1]:
            raise ValueError("needs [fewest, most] words with 1 <= fewest <= most")
        return band

    @field_validator("base_url", "judge_base_url")
    @classmethod
    def _without_credentials(cls, url: str | None) -> str | None:
        # The settings are stored with the run, so they must not hold secrets.
        if url and "@" in url.split("://", 1)[-1].split("/", 1)[0]:
            raise ValueError("holds credentials, which would be stored; give a key as PIILOOM_COMPATIBLE_API_KEY instead")
        return url

    @field_validator("bank", "prompts", "screen_model")
    @classmethod
    def _anchored(cls, path: Path | None) -> Path | None:
        # Absolute, since a run can be resumed from another folder.
        return None if path is None else path.absolute()

    @field_validator("types", mode="before")
    @classmethod
    def _defined(cls, types: object) -> OwnTypes:
        if isinstance(types, str | Path):
            return read_types_file(Path(types))
        try:
            return from_json(types or ())  # the form in which a stored run has them
        except DataError:
            raise ValueError("needs the name of a types file (docs/own-types.md shows one)") from None

    @field_validator("price", "judge_price")
    @classmethod
    def _priced(cls, price: str | None) -> str | None:
        if price is not None:
            parse_prices(price)
        return price

    @field_validator("registers")
    @classmethod
    def _known(cls, registers: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in registers if name not in load_registers()]
        if unknown or not registers:
            raise ValueError(f"needs one or more of {', '.join(load_registers())}")
        return registers

    def own_sampling(self) -> StageSampling:
        """Return the run-wide sampling settings; those of a single stage override them."""
        return StageSampling(temperature=self.temperature, top_p=self.top_p, extra_body=self.extra_body)

    def sampling_of(self, stage: str) -> SamplingSettings:
        """Return the sampling settings for the calls of *stage*."""
        own = self.sampling.get(stage)
        if own is None and self.temperature is None and self.top_p is None and self.extra_body is None:
            return _AS_EVER
        return (self.own_sampling() if own is None else own.over(self.own_sampling())).settings()

    def taxonomy(self) -> Taxonomy:
        """Return the taxonomy of the run: the built-in types and its own."""
        return extended(self.types)

    def chosen_pairs(self) -> tuple[tuple[str, str], ...]:
        """List the pairs of the run in taxonomy order. For the composer, "all" means those that its bank or stories have.

        Raises ``UsageError`` if the composer's bank or stories lack a pair that was asked for by name, or have no text for one of the
        run's own types.
        """
        wanted = self.taxonomy().parse_pairs(self.pairs)
        if self.provider != "composer":
            return wanted
        if self.recipe == "story":
            return self._tellable(wanted)
        bank = self.composed_from()
        known = bank.pairs
        found = tuple(pair for pair in wanted if pair in known)
        if self.pairs.strip().casefold() == "all":
            check_writable(self.types, self.taxonomy(), bank)
        elif found != wanted:
            lacking = [pair for pair in wanted if pair not in known]
            missing = ", ".join("+".join(pair) for pair in lacking)
            own = {one.name for one in self.types}
            remedy = REMEDY if any(own.intersection(pair) for pair in lacking) else f"It has {', '.join(map('+'.join, sorted(known)))}"
            raise UsageError(f"the bank has no scenario of {missing}", where=f"locale {self.locale}", remedy=remedy)
        return found

    def _tellable(self, wanted: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        stories, everything = self.stories(), self.pairs.strip().casefold() == "all"
        if self.bank is not None and not stories.own:
            remedy = "Write some (docs/stories.md shows how), or use --recipe staged for scenarios"
            raise UsageError("there is no story in it", where=str(self.bank), remedy=remedy)
        check_tellable(self.types, self.taxonomy(), stories, None if everything else wanted)
        return stories.tellable(wanted, everything=everything, locale=get_locale(self.locale))

    @property
    def records_per_text(self) -> int:
        """How many records share a text, each with a question of its own."""
        return 1 if self.recipe == "staged" else self.questions_per_text or 2

    def of_judge(self) -> RunConfig | None:
        """Return the configuration for calls to the separate judge; None if the model that writes also judges."""
        if self.judge_provider is None and self.judge_model is None:
            return None
        same = self.judge_provider in (None, self.provider)
        return self.model_copy(
            update={
                "provider": self.judge_provider or self.provider,
                "model": self.judge_model,
                "base_url": self.judge_base_url or (self.base_url if same else None),
                "price": self.judge_price,
                "response_format": self.response_format if same else "auto",
                **dict.fromkeys(("judge_provider", "judge_model", "judge_base_url", "judge_price")),
            }
        )

    def stories(self) -> StoryBank:
        """Return the stories for the recipe ``story``: the built-in ones in the run's language, and those in ``bank``."""
        return StoryBank(get_locale(self.locale).language, self.bank, self.taxonomy())

    def composed_from(self) -> Bank:
        """Return the scenario bank that the composer uses, with asides for own types that it lacks."""
        bank = load_bank(get_locale(self.locale).language, self.bank, self.taxonomy())
        return with_own_frames(bank, types_for_asides(self.types, types_in_bank(bank))) if self.types else bank

    def aside_types(self) -> OwnTypes:
        """Return the own types that the composer mentions in asides, since they are in no story or scenario."""
        if not self.types or self.provider != "composer":
            return ()
        if self.recipe == "story":
            return types_for_asides(self.types, self.stories().own_story_types)
        return types_for_asides(self.types, types_in_bank(load_bank(get_locale(self.locale).language, self.bank, self.taxonomy())))
