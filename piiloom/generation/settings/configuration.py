"""The settings of a run as one immutable object; ``setting_checks`` builds and checks it, ``digests`` fingerprints it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import Converted, OptionalPath, Words, setting
from piiloom.generation.settings.sampling import SAMPLING, StageSampling
from piiloom.providers.factory import KINDS
from piiloom.providers.model_calls import CALLS, JUDGES, MODEL, MONEY, JudgeCalls, ModelCalls
from piiloom.providers.protocol import SamplingSettings
from piiloom.taxonomy.bank_loading import limited, load_bank
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.own_types import ALL_TYPES, OwnTypes, extended, from_json, types_for_asides, with_own_frames
from piiloom.taxonomy.own_types_file import has_bank, read_types_file
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank
from piiloom.taxonomy.telling_plan import Narrowing
from piiloom.taxonomy.text_shapes import RelevanceShares, load_registers, load_voices, published_shares


class ComposerSettings(BaseModel):
    """What the composer leaves out, to measure what it adds (``benchmarks/ablation.py``); by default nothing.

    ``personas`` false: each value is of another person. ``distractors`` false: no hard negatives and no text without PII.
    ``scenarios_per_pair`` limits the bank, ``value_draws`` how many different draws of values there are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    personas: bool = True
    distractors: bool = True
    scenarios_per_pair: int | None = Field(default=None, ge=1)
    value_draws: int | None = Field(default=None, ge=1)


REMEDY = (
    "Add some to a bank file of your own and name it with --bank (docs/own-types.md shows one), take the pair out of the types "
    "file, choose other pairs with --pairs, or name a model with --provider"
)


def check_drawable(own: OwnTypes, provider: str) -> None:
    """Raise ``UsageError`` for types whose values only a model can give if *provider* is the composer."""
    asked = [one.name for one in own if one.asks_model()]
    if asked and provider == "composer":
        raise UsageError(
            f"the composer has no values of {', '.join(asked)}: they come from a model",
            where="--types",
            remedy="Give the type a lexicon or a pattern, or name another --provider",
        )


def types_in_bank(bank: Bank) -> set[str]:
    """Return the names of the types of which *bank* has sentences."""
    told = {kind for scenario in bank.scenarios.values() for kind in (*scenario.pair, *scenario.also)}
    return told | {kind for frame in bank.frames for kind, _ in frame.slots}


def check_covered(
    own: OwnTypes, taxonomy: Taxonomy, told: Collection[str], known: Collection[Pair], asked: Sequence[Pair] | None, no: tuple[str, str]
) -> None:
    """Raise ``UsageError`` if the *known* pairs lack one with one of the *own* types, or if one of these is not among the types *told*.

    *asked*: the pairs to check; None checks all pairs that the types file names, and the types themselves. *no* begins both messages.
    """
    for one in own:
        if asked is not None:
            pairs = [pair for pair in asked if one.name in pair]
        else:
            named = one.pairs if one.pairs != ALL_TYPES else () if one.name in told else taxonomy.mates(one.name)
            pairs = [(min(one.name, mate), max(one.name, mate)) for mate in named]
        missing = ", ".join("+".join(pair) for pair in pairs if pair not in known)
        if missing or (asked is None and one.name not in told):
            said = f"{no[0]} of {missing}" if missing else f"{no[1]} that holds the type {one.name!r}"
            raise UsageError(said, where="--types", remedy=REMEDY)


# Which stages make a record (see ``generation.stages.pipeline``).
RecipeName = Literal["staged", "case", "story"]
PROVIDERS: tuple[str, ...] = ("composer", *KINDS)
Judge = Literal["relevance", "leak"]
RECORDS, TEXTS, SCREENING = "Records", "Texts and questions", "Screening"
_AS_EVER = SamplingSettings()
# Settings that a paper publishes (CAPID: sections 4.1 and 4.2, table 1, appendix B). The composer fits no values to a text (B.8).
PAPERS: Mapping[str, Mapping[str, Any]] = {
    "capid": {
        "recipe": "staged",
        "topics_per_pair": 10,
        "subtopics_per_topic": 20,
        "situation_words": (20, 35),
        "peripheral_words": (20, 25),
        "relevance_shares": "published",
        "values": "llm",
    }
}


def _of_paper(given: Mapping[str, Any], *, composed: bool) -> dict[str, Any]:
    """Return what the paper that *given* names sets, without the settings that the composer or the recipe has no use for."""
    paper = given.get("paper")
    preset = dict(PAPERS.get(paper, {})) if isinstance(paper, str) else {}
    recipe = given.get("recipe") or "staged"
    unfit = {*(["values"] if composed else []), *({} if recipe == "staged" else ("situation_words", "peripheral_words", "values"))}
    return {name: value for name, value in preset.items() if name not in unfit and (name, recipe) != ("relevance_shares", "case")}


class RunConfig(ModelCalls, JudgeCalls, StageSampling):
    """Settings of a run; all have defaults. Unknown keys, types, pairs and locales are refused.

    Settings that count "no" control how much, how fast, where and at what price, never what: they are not part of the digest.
    So a run can be resumed with more samples or a larger budget, and gives the same bytes at every concurrency, and from
    a server that has moved to another host or port.
    """

    panels = (RECORDS, MODEL, TEXTS, JUDGES, SCREENING, SAMPLING, CALLS, MONEY)

    samples: int = setting(100, "Number of accepted records.", flags="--samples -n", panel=RECORDS, counts="no", ge=1)
    pairs: str = setting("all", '"all", or pairs of PII types: health+occupation,age+belief.', panel=RECORDS)
    only_types: Words = setting(
        (), "Types of all values, as in health,occupation; stories that need others are not told.", panel=RECORDS, kind=str, counts="apart"
    )
    with_kinds: Words = setting(
        (),
        "Kinds of which each text holds at least one, as in email,iban: subtypes or ids of the entity catalogue.",
        flags="--with",
        panel=RECORDS,
        kind=str,
        counts="apart",
    )
    repeat_stories: bool = setting(
        False,
        "Go on with more than 50 records of a story, which repeat its sentences.",
        panel=RECORDS,
        counts="no",
    )
    locale: str = setting("en_US", "Locale of texts and values.", panel=RECORDS)
    seed: int = setting(7, "Same seed and settings, same plan; from the composer also the same records.", panel=RECORDS, counts="apart")
    recipe: RecipeName = setting(
        "story",
        "How a text is made: story (the composer tells a whole story; its default), case (a model writes a whole text and keeps a ledger "
        "of what matters; its default), or staged (sentence by sentence, with one question).",
        panel=RECORDS,
        counts="apart",
    )
    questions_per_text: int | None = setting(
        None,
        "Records that share a text, each with its own question (default 2; with --recipe staged always 1).",
        panel=RECORDS,
        counts="apart",
        ge=1,
        le=4,
    )
    no_pii_share: float = setting(
        0.05, "Share of the texts without any personal data.", metavar="P", panel=RECORDS, counts="apart", ge=0, le=1
    )
    values: Literal["code", "llm"] = setting(
        "code",
        "Source of PII values: code (the value lexicons, all before the text) or llm (the provider; with --recipe staged each value is "
        "asked for when the text needs it, given the text so far).",
        panel=RECORDS,
        advanced=True,
    )
    relevance_shares: Literal["ours", "published"] = setting(
        "ours",
        "How often values of each type matter: ours (as the stories or scenarios have it) or published (the shares of CAPID, table 1; "
        "docs/composer.md).",
        panel=RECORDS,
        counts="apart",
        advanced=True,
    )
    paper: Literal["capid", "privacyai"] | None = setting(
        None,
        "Settings as a paper publishes them: capid sets recipe, word bands, topics and shares of relevance (with a model also --values); "
        "options that are given win. privacyai is for piiloom release.",
        panel=RECORDS,
        counts="apart",
    )
    types: Converted[OwnTypes, OwnTypes | str | Path | Sequence[Mapping[str, Any]]] = setting(
        (),
        "A file of your own entity types, in addition to the 15 that ship (docs/own-types.md); the run and its store keep them.",
        metavar="YAML",
        panel=RECORDS,
        kind=Path,
        counts="content",
    )
    provider: str = setting(
        "composer", "Writer of the texts: composer (needs no key or network), openai, anthropic or compatible.", panel=MODEL
    )
    bank: OptionalPath = setting(
        None, "Your own scenarios and sentences: a bank file, or a folder of them.", metavar="DIR", panel=MODEL, counts="content"
    )
    composer: Converted[ComposerSettings, ComposerSettings | Mapping[str, Any]] = setting(
        ComposerSettings(),
        "What the composer leaves out, for measurements: personas, distractors, scenarios_per_pair, value_draws.",
        flags="-",
        panel=MODEL,
    )
    topics_per_pair: int = setting(10, "Topics that are asked for per pair of types.", panel=TEXTS, ge=1, le=100, advanced=True)
    subtopics_per_topic: int = setting(20, "Subtopics that are asked for per topic.", panel=TEXTS, ge=1, le=100, advanced=True)
    registers: Converted[tuple[str, ...], Sequence[str]] = setting(
        tuple(load_registers()),
        "Recipes staged and case: the kinds of text that are written, each as often as it weighs; case has more by default "
        "(taxonomy/text_shapes.yaml).",
        flags="-",
        panel=TEXTS,
    )
    max_low: int = setting(8, "Most low-relevance values in a record (recipes staged and case).", flags="-", panel=TEXTS, ge=0, le=8)
    situation_words: Converted[tuple[int, int] | None, tuple[int, int] | str | None] = setting(
        None,
        "Recipe staged: fewest and most words of a situation, as in 20-35; by default planned item by item.",
        metavar="LOW-HIGH",
        panel=TEXTS,
        advanced=True,
    )
    peripheral_words: Converted[tuple[int, int] | None, tuple[int, int] | str | None] = setting(
        None,
        "Recipe staged: fewest and most words of an aside, as in 20-25; by default planned item by item.",
        metavar="LOW-HIGH",
        panel=TEXTS,
        advanced=True,
    )
    question_words: Converted[tuple[int, int], tuple[int, int] | str] = setting(
        (4, 60), "Fewest and most words of a question (recipes staged and case).", metavar="LOW-HIGH", panel=TEXTS, advanced=True
    )
    judges: Converted[tuple[Judge, ...], Sequence[Judge]] = setting(
        (), "Have the model check each record: relevance, leak. May be given twice.", flags="--judge", panel=JUDGES, counts="apart"
    )
    on_disagreement: Literal["relabel", "reject"] | None = setting(
        None,
        "When the judge of the recipe case contradicts a label: relabel (default), or reject the record.",
        panel=JUDGES,
        counts="apart",
        advanced=True,
    )
    screen_model: OptionalPath = setting(
        None,
        "A detector (saved by piiloom probe --out) that looks for personal information outside of spans.",
        metavar="DIR",
        panel=SCREENING,
        counts="content",
        advanced=True,
    )
    screen_threshold: float | None = setting(
        None,
        "Lowest score that counts for --screen-model (default 0.9).",
        metavar="P",
        panel=SCREENING,
        counts="apart",
        ge=0,
        le=1,
        advanced=True,
    )
    on_unlisted: Literal["flag", "reject"] | None = setting(
        None,
        "When --screen-model finds something: keep the record and flag it for annotators (default), or reject it.",
        panel=SCREENING,
        counts="apart",
        advanced=True,
    )
    sampling: Converted[dict[str, StageSampling], Mapping[str, StageSampling | Mapping[str, Any]]] = setting(
        {},
        "Settings of single stages, which replace temperature, top_p and extra_body.",
        flags="-",
        panel=SAMPLING,
        counts="apart",
    )
    response_format: Literal["auto", "json_schema", "json_object", "text"] = setting(
        "auto",
        "Form in which a compatible server is asked for JSON; auto finds out with a tiny call.",
        panel=CALLS,
        counts="no",
        advanced=True,
    )
    margin: float = setting(
        0.1,
        "Topics and subtopics are asked for this share of items more, to replace what is rejected.",
        flags="-",
        panel=CALLS,
        counts="no",
        ge=0,
        le=10,
    )
    stop_after: int = setting(
        30,
        "A paid run stops after this many rejects for one reason with no record accepted in between; 0: never.",
        panel=CALLS,
        counts="no",
        ge=0,
        advanced=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _recipe_of_provider(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        composed, types = given.get("provider", "composer") == "composer", given.get("types")
        given = _of_paper(given, composed=composed) | given
        if isinstance(types, str | Path) and composed and given.get("bank") is None:
            given = {**given, "bank": types} if has_bank(Path(types)) else given
        recipe = given.get("recipe") or ("story" if composed else "case")
        return ({"registers": tuple(load_voices())} if recipe == "case" else {}) | given | {"recipe": recipe}

    @field_validator("situation_words", "peripheral_words", "question_words", mode="before")
    @classmethod
    def _band(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        if re.fullmatch(r"\d+-\d+", given) is None:
            raise ValueError("needs the fewest and the most words, as in 20-35")
        return given.split("-")

    @field_validator("situation_words", "peripheral_words", "question_words")
    @classmethod
    def _ordered(cls, band: tuple[int, int] | None) -> tuple[int, int] | None:
        if band is not None and not 1 <= band[0] <= band[1]:
            raise ValueError("needs [fewest, most] words with 1 <= fewest <= most")
        return band

    @field_validator("locale")
    @classmethod
    def _resolved(cls, locale: str) -> str:
        return get_locale(locale).code

    @field_validator("only_types")
    @classmethod
    def _spelled(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.replace("_", " ") for name in types)

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

    @field_validator("registers")
    @classmethod
    def _known(cls, registers: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known = load_voices() if info.data.get("recipe") == "case" else load_registers()
        if not registers or not known.keys() >= set(registers):
            raise ValueError(f"needs one or more of {', '.join(known)}")
        return registers

    def own_sampling(self) -> StageSampling:
        """Return the run-wide sampling settings; those of a single stage override them."""
        return self.part(StageSampling)

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
        if self.recipe != "story":  # a story may do without the types of its pair
            wanted = tuple(pair for pair in wanted if all(map(self.narrowing.allows, pair)))
            if not wanted:
                remedy = "Name two types or more that can be paired, and leave --pairs out"
                raise UsageError("no pair has only these types", where="--only-types", remedy=remedy)
        if self.provider != "composer":
            return wanted
        if self.recipe == "story":
            return self._tellable(wanted)
        bank = self.composed_from()
        known = bank.pairs
        found = tuple(pair for pair in wanted if pair in known)
        if self.pairs.strip().casefold() == "all":
            no = ("the bank has no scenario", "the bank has no sentence")
            check_covered(self.types, self.taxonomy(), types_in_bank(bank), bank.pairs, None, no)
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
        told = stories.own_story_types | {one.name for one in types_for_asides(self.types, stories.own_story_types)}
        no = ("there is no story", "there is no story")
        check_covered(self.types, self.taxonomy(), told, stories.pairs, None if everything else wanted, no)
        return stories.tellable(wanted, everything=everything, locale=get_locale(self.locale))

    @property
    def share_without_pii(self) -> float:
        """The share of texts without personal data; none if each text is to hold a value of a kind."""
        return 0.0 if self.with_kinds else self.no_pii_share

    @property
    def narrowing(self) -> Narrowing:
        """The types that values may have, and the kinds of which each text holds one."""
        return Narrowing(only=frozenset(self.only_types), kinds=frozenset(self.with_kinds))

    @property
    def shares(self) -> RelevanceShares | None:
        """The shares of values that matter by which records are drawn; None: those of the stories or scenarios."""
        return published_shares() if self.relevance_shares == "published" else None

    @property
    def fits_values_to_text(self) -> bool:
        """Whether each value is asked for given the text so far, rather than all before the text."""
        return self.values == "llm" and self.recipe == "staged"

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
        narrow = self.narrowing if self.only_types or self.with_kinds else None
        return StoryBank(get_locale(self.locale).language, self.bank, self.taxonomy(), narrow, self.records_per_text)

    def composed_from(self) -> Bank:
        """Return the scenario bank that the composer uses, with asides for own types that it lacks."""
        bank = load_bank(get_locale(self.locale).language, self.bank, self.taxonomy())
        bank = bank if self.narrowing.allows("relationship") else limited(bank, relatives=False)
        return with_own_frames(bank, types_for_asides(self.types, types_in_bank(bank))) if self.types else bank

    def aside_types(self) -> OwnTypes:
        """Return the own types that the composer mentions in asides, since they are in no story or scenario."""
        if not self.types or self.provider != "composer":
            return ()
        own = tuple(one for one in self.types if self.narrowing.allows(one.name))
        if self.recipe == "story":
            return types_for_asides(own, self.stories().own_story_types)
        return types_for_asides(own, types_in_bank(load_bank(get_locale(self.locale).language, self.bank, self.taxonomy())))
