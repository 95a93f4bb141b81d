"""Digests of all that shapes the records of a run: which settings count, which do not, and which prompts it may send."""

from __future__ import annotations

from typing import Any

from piiloom.foundation.seeding import digest
from piiloom.foundation.settings import names_that_count
from piiloom.generation.settings.configuration import RunConfig
from piiloom.pii_values.any_locale import versions
from piiloom.prompts.library import PromptTemplate, open_library
from piiloom.screening.gates import detector_digest
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.own_types import asides_digest
from piiloom.taxonomy.story_bank import stories_digest
from piiloom.taxonomy.text_shapes import shapes_digest

# Part of every record id. Increase it when a change to a stage or to the composer changes its output.
GENERATION_VERSION = 2
# Settings that may change while a run goes on; and paths of the user's own files, of which only the content counts.
CHANGEABLE_SETTINGS = names_that_count(RunConfig, "no")
PLACES = names_that_count(RunConfig, "content")
# Settings that are digested separately: by content, or only if given, so that the digests of older runs stay the same.
_APART = names_that_count(RunConfig, "content", "apart")


def run_digest(config: RunConfig) -> str:
    """Return the digest of all that shapes the records: settings, taxonomy, bank, templates, code version, a detector that screens."""
    return _digest(config, _screened(config))


def _digest(config: RunConfig, screened: dict[str, Any]) -> str:
    settings = shaping(config) | {"no_pii_share": config.no_pii_share} | _recipe(config) | asides_digest(config.aside_types()) | screened
    if config.recipe == "story":
        stories = stories_digest(get_locale(config.locale).language, config.bank)
        return digest(GENERATION_VERSION, settings, config.taxonomy().digest, stories)
    templates = [(template.id, template.sha256) for template in sendable_templates(config)]
    bank = config.composed_from().digest if config.provider == "composer" else None
    drawing = config.own_sampling().chosen() | (
        {"sampling": {name: own.chosen() for name, own in config.sampling.items()}} if config.sampling else {}
    )
    return digest(GENERATION_VERSION, settings | _judged(config) | drawing, config.taxonomy().digest, bank, templates)


def plan_digest(config: RunConfig) -> str:
    """Return the digest of what shapes the plan. If a model writes, prompts, sampling settings and the share without PII are left out.

    So a run that only changes the prompt or temperature of one stage plans the same items, and reuses the paid replies of the stages
    before it; with another share, those of the other texts. What screens the finished records is never part of it.
    """
    if config.provider == "composer":
        return _digest(config, {})
    return digest(GENERATION_VERSION, shaping(config) | _recipe(config), config.taxonomy().digest)


def shaping(config: RunConfig) -> dict[str, Any]:
    """Return the settings that go into the digest as they are."""
    return config.model_dump(mode="json", exclude={*CHANGEABLE_SETTINGS, *_APART})


def sendable_templates(config: RunConfig) -> list[PromptTemplate]:
    """List the templates that the run may send: of judges only if the run has that judge, those of other rooms never."""
    asked = {f"judge_{name}" for name in config.judges}
    apart: tuple[str, ...] = ("judge_", "surrogate_", "utility_", "detect_", "benchmark_", "entity_", "case_", "value_in_text")
    library = open_library(config.prompts)
    if config.fits_values_to_text:
        asked.add("value_in_text")
    if config.recipe == "case":
        asked |= {"judge_relevance", *(name for name in library.names if name.startswith("case_"))}
        apart = (*apart, "situation", "peripheral", "question_", "paraphrase")
    return [library.find(name) for name in library.names if not name.startswith(apart) or name in asked]


def _recipe(config: RunConfig) -> dict[str, Any]:
    """Return what recipe and locale add to the digest.

    Nothing for "staged", the first recipe, and for locales with word lists of ours, so that digests of older runs stay the same; for
    other locales the versions of the libraries that values come from.
    """
    shares: dict[str, Any] = {"relevance_shares": config.shares.model_dump()} if config.shares else {}
    shares |= {name: sorted(given) for name in ("only_types", "with_kinds") if (given := getattr(config, name))}
    if not get_locale(config.locale).listed:
        shares["values by"] = dict(versions())
    if config.recipe == "staged":
        return shares
    shapes = {"shapes": shapes_digest()} if config.recipe == "case" else {}
    return {"recipe": config.recipe, "records_per_text": config.records_per_text, **shares, **shapes}


def _screened(config: RunConfig) -> dict[str, Any]:
    """Return what a trained detector that screens adds to the digest. Flags change no text, but who asks for others wants another run."""
    if config.screen_model is None:
        return {}
    detector = detector_digest(config.screen_model, threshold=config.screen_threshold)
    return {"screened by": [*detector, config.on_unlisted or "flag"]}


def _judged(config: RunConfig) -> dict[str, Any]:
    """Return what judging adds to the digest: the judges, the separate judge model, and what a disagreement leads to."""
    found: dict[str, Any] = {"judges": sorted(set(config.judges))} if config.judges else {}
    if (judge := config.of_judge()) is not None:
        found["judged by"] = [judge.provider, judge.model]
    if config.recipe == "case":
        found["on_disagreement"] = config.on_disagreement or "relabel"
    return found
