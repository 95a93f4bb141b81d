"""Build and check the settings of a run: conflicts raise ``UsageError``, before anything is sent or stored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import read_document, validate_document
from piiloom.generation.settings.configuration import PROVIDERS, RunConfig, check_drawable
from piiloom.generation.settings.sampling import STAGES_OF, check_stages, check_taken
from piiloom.pii_values.any_locale import locale_description
from piiloom.prompts.library import open_library
from piiloom.providers.factory import KINDS as PAID_PROVIDERS
from piiloom.screening.gates import trained_detector
from piiloom.screening.screen import stepping_aside
from piiloom.taxonomy.locales import get_locale, load_locales


def make_config(settings: Mapping[str, Any]) -> RunConfig:
    """Build a checked configuration from keyword settings; raises ``UsageError`` naming the first bad one.

    A locale may be written in any way that ``resolve_locale`` reads.
    """
    return check(RunConfig.of(settings, remedy="See piiloom generate --help"))


def read_config(path: Path | None, overrides: Mapping[str, Any]) -> RunConfig:
    """Read a YAML run file, if there is one; *overrides* (from flags) win. Raises ``ConfigError`` with file, line and key."""
    if path is None:
        return make_config(overrides)
    document = read_document(path)
    validate_document(document, RunConfig, noun="setting")  # with the lines of the file in its messages
    return make_config({**document.data, **overrides})


def check(config: RunConfig) -> RunConfig:
    """Check *config* against taxonomy, locale, files, provider and recipe, and return it; raises ``UsageError`` for the first fault."""
    if config.provider not in PROVIDERS:
        raise UsageError(f"unknown provider {config.provider!r}", remedy=f"Choose one of {', '.join(PROVIDERS)}")
    config.taxonomy().parse_pairs(config.pairs)
    _check_locale(config)
    _check_narrow(config)
    _check_fit(config)
    if config.prompts is not None:
        open_library(config.prompts)
    _check_sampling(config)
    if config.bank is not None and not config.bank.exists():
        raise UsageError(f"there is no {config.bank}", where="--bank", remedy="Name a YAML file or a folder of them")
    _check_screening(config)
    if config.types:
        check_drawable(config.types, config.provider)
        config.chosen_pairs()
    return config


def _check_locale(config: RunConfig) -> None:
    """Raise ``UsageError`` for a locale of which the composer has no stories."""
    if config.provider == "composer" and not get_locale(config.locale).composer:
        own = ", ".join(code for code, one in load_locales().items() if one.composer)
        remedy = f"Name a model with --provider (and --model): a model writes any locale. The composer writes {own}"
        raise UsageError(f"the composer has no stories for {config.locale}", where="--locale", remedy=remedy)


def notes_on_locale(config: RunConfig) -> list[str]:
    """Return lines that say where values of a locale without word lists of ours come from, and which checks are left out; else none."""
    locale = get_locale(config.locale)
    if locale.listed:
        return []
    left_out = stepping_aside(locale)
    lines = [f"{config.locale}: values come from", *(f"  {line}" for line in locale_description(config.locale))]
    return [*lines, *([f"{config.locale}: not checked, for want of word lists: {'; '.join(left_out)}"] if left_out else [])]


def _check_narrow(config: RunConfig) -> None:
    """Raise ``UsageError`` for unknown types and kinds of a narrow request, and for kinds of which the bank has no sentence."""
    for name in config.only_types:
        config.taxonomy().get(name)
    if config.only_types or (config.with_kinds and config.recipe == "story"):
        config.chosen_pairs()
    if config.with_kinds and config.recipe != "story":
        slots = config.narrowing.slots(config.taxonomy())
        known = config.composed_from().frames_by_slot if config.provider == "composer" else dict.fromkeys(slots)
        if not any(slot in known for slot in slots):
            remedy = f"It has {', '.join(sorted(subtype for _, subtype in known))}"
            raise UsageError(f"no sentence of the bank holds {', '.join(config.with_kinds)}", where="--with", remedy=remedy)


def _check_fit(config: RunConfig) -> None:
    """Raise ``UsageError`` for settings that the provider or the recipe has no use for."""
    if config.provider != "composer" and (config.bank is not None or config.composer != type(config.composer)()):
        raise UsageError(f"{config.provider} does not use a bank", where="--bank", remedy="Leave bank and composer settings out")
    if config.provider != "composer" and config.recipe == "story":
        raise UsageError("only the composer can use the recipe story", where="--recipe", remedy="Leave --recipe or --provider out")
    if config.provider == "composer":
        _check_composer(config)
    _check_recipe(config)
    _check_judge(config)
    if config.response_format != "auto" and config.provider != "compatible":
        remedy = "Leave --response-format out: for other providers it is known"
        raise UsageError("only the provider compatible takes a response format", where="--response-format", remedy=remedy)


def _check_recipe(config: RunConfig) -> None:
    """Raise ``UsageError`` for settings of another recipe, and for a paper without any."""
    recipe, no_parts = config.recipe, f"the recipe {config.recipe} does not write a text from situation and asides"
    by_ledger = "Leave it out, or use --recipe staged: the recipe case labels values by a ledger, after the text is planned"
    splits = "Leave it out: its splits are set by piiloom release --paper privacyai"
    for name, wrong, fault, remedy in (
        ("situation_words", recipe != "staged", no_parts, "Leave it out, or use --recipe staged"),
        ("peripheral_words", recipe != "staged", no_parts, "Leave it out, or use --recipe staged"),
        (
            "questions_per_text",
            recipe == "staged",
            "the recipe staged asks one question per text",
            "Leave it out, or choose another --recipe",
        ),
        ("on_disagreement", recipe != "case", "only the recipe case lets a judge check labels", "Leave it out, or use --recipe case"),
        ("shares", recipe == "case", "the recipe case cannot draw by shares of relevance", by_ledger),
        ("paper", config.paper == "privacyai", "PrivacyAI publishes no way to write texts", splits),
    ):
        if wrong and getattr(config, name) is not None:
            where = RunConfig.option_name("relevance_shares" if name == "shares" else name)
            raise UsageError(fault, where=where, remedy=remedy)


def _check_composer(config: RunConfig) -> None:
    """Raise ``UsageError`` for settings that need a model."""
    one_persona = "Leave --values out (its values are of one persona, so they fit each other), or name a model with --provider"
    for given, fault, where, remedy in (
        (config.recipe == "case", "cannot use the recipe case", "--recipe", "Leave --recipe out, or name a model with --provider"),
        (config.judges, "cannot judge", "--judge", "Judges need a model: name another --provider"),
        (config.batch, "has no batch API", "--batch", "Leave --batch out"),
        (config.values == "llm", "cannot fit values to a text", "--values", one_persona),
        (config.prompts is not None, "reads no prompts", "--prompts", "Leave --prompts out, or name another --provider"),
    ):
        if given:
            raise UsageError(f"the composer {fault}", where=where, remedy=remedy)


def _check_screening(config: RunConfig) -> None:
    """Raise ``UsageError`` or ``DataError`` for a detector that cannot be loaded, or settings of one that is not there."""
    if config.screen_model is not None:
        trained_detector(config.screen_model, threshold=config.screen_threshold)
        return
    for name, option in (("screen_threshold", "--screen-threshold"), ("on_unlisted", "--on-unlisted")):
        if getattr(config, name) is not None:
            raise UsageError("no detector screens this run", where=option, remedy="Name one with --screen-model, or leave it out")


def _check_judge(config: RunConfig) -> None:
    """Raise ``UsageError`` for a separate judge that cannot judge, or would have nothing to judge."""
    judge = config.of_judge()
    if judge is None:
        if config.judge_base_url is not None or config.judge_price is not None:
            where = "--judge-base-url" if config.judge_base_url is not None else "--judge-price"
            raise UsageError("no separate judge is chosen", where=where, remedy="Choose one with --judge-provider or --judge-model")
        return
    if judge.provider not in PAID_PROVIDERS:
        where, remedy = "--judge-provider", f"Choose one of {', '.join(PAID_PROVIDERS)}"
        raise UsageError(f"{judge.provider!r} cannot judge", where=where, remedy=remedy)
    if config.recipe != "case" and not config.judges:
        raise UsageError("this run has no judge", where="--judge-provider", remedy="Add --judge relevance, or use --recipe case")
    if config.batch:
        raise UsageError("--batch works with one provider only", where="--batch", remedy="Leave --batch or the separate judge out")


def _check_sampling(config: RunConfig) -> None:
    """Raise ``UsageError`` for sampling settings of stages that the run does not have, or that the model does not accept."""
    judging = {"relevance", *config.judges} if config.recipe == "case" else set(config.judges)
    judges = {f"judge_{name}": f"Add the judge {name}, or leave it out" for name in ("relevance", "leak") if name not in judging}
    values = {"values": "Have the model draw the values (values: llm), or leave it out"} if config.values == "code" else {}
    recipe = "case" if config.recipe == "case" else "staged"
    other = {name: f"The recipe {recipe} has no such stage" for names in (STAGES_OF[r] for r in STAGES_OF if r != recipe) for name in names}
    check_stages(config.sampling, judges | values | other)
    check_taken(config.provider, config.model, config.own_sampling(), config.sampling)
