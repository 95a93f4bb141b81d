"""``piiloom entities``: the entity catalogue: listed, shown, tried, and patterns for it written by a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import typer

from piiloom.cli.options import AsJson, json_setting
from piiloom.cli.progress import asking
from piiloom.cli.terminal import command_group, dollars, examples, say, say_json, say_result, table_of
from piiloom.detection.catalogue_trial import EntityChoice, EntityFiles, as_json, drawn_values, try_entities
from piiloom.detection.detector_settings import LOCAL_MODELS, ModelSettings
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

if TYPE_CHECKING:
    from piiloom.taxonomy.entities.catalogue_file import EntityPattern

_LIST = ("piiloom entities list --locale pl_PL", "piiloom entities list --domain Healthcare --json")
_SHOW = ("piiloom entities show pl_pesel",)
_TEST = ("piiloom entities test", "piiloom entities test --locale pt_BR", "piiloom entities test --types my_entities.yaml --locale nl_NL")
_PROPOSE = ("piiloom entities propose drafts.yaml --provider openai --budget-usd 1 --out proposed.yaml",)

entities_app = command_group(
    "Look up and try the entity catalogue: the kinds of personal information that detectors know.", *_LIST, *_SHOW, *_TEST, *_PROPOSE
)


class ListEntities(EntityChoice):
    """The options of ``piiloom entities list``."""

    domain: str | None = setting(None, "Only of this domain: Finance, Travel, Healthcare, IT, CPG or Media.")
    as_json: bool = json_setting()


class ShowEntity(AsJson, EntityFiles):
    """The options of ``piiloom entities show``."""

    id: str = setting(..., "The id of an entity, as pl_pesel.", metavar="ID", argument=True)


class TryEntities(EntityChoice):
    """The options of ``piiloom entities test``."""

    id: tuple[str, ...] = setting((), "Only this entity. May be repeated.", metavar="ID")
    seed: int = setting(0, "Seed of the drawn values.")
    explain: bool = setting(False, "Print each text that went wrong.")
    as_json: bool = json_setting()


class ProposeEntities(ModelSettings):
    """The options of ``piiloom entities propose``."""

    panels: ClassVar[tuple[str, ...]] = (MODEL, LOCAL_MODELS, CALLS, MONEY)

    file: Path = setting(..., "Drafts: a catalogue file with entities that have no patterns yet.", metavar="FILE", argument=True)
    provider: str = setting(..., "Provider of the model that writes: openai, anthropic, compatible or local.", panel=MODEL)
    out: Path = setting(..., "The file to write: the entities whose patterns passed.", flags="--out -o", metavar="FILE")
    force: bool = setting(False, "Replace the file that is there already.")
    as_json: bool = json_setting()


@entities_app.command("list", epilog=examples(*_LIST))
@takes(ListEntities)
def list_all(asked: ListEntities) -> None:
    """List entities: the id, names, type, validator and source of each."""
    found = asked.chosen(asked.domain)
    rows = []
    for one in found:
        confirmed = ("yes" if one.default else "on request") if one.confirmed else "no: off"
        rows.append((one.id, one.name, one.native, one.entity_type, ", ".join(one.domains), one.validator or "", confirmed))
    table = table_of(counted(len(found), "entity"), ("id", "name", "native", "type", "domains", "validator", "confirmed"), rows)
    say_result({"entities": [as_json(one) for one in found]}, table, as_json=asked.as_json)


@entities_app.command("show", epilog=examples(*_SHOW))
@takes(ShowEntity)
def show(asked: ShowEntity) -> None:
    """Show one entity: its patterns and scores, context words, validator and source, with values drawn for it."""
    entity = asked.entity(asked.id)
    facts = {**as_json(entity), "drawn": drawn_values(entity)}
    lines = []
    for key, value in facts.items():
        if key == "patterns":
            lines += [f"  pattern: {pattern.pattern}  ({', '.join(_options_of(pattern))})" for pattern in entity.patterns]
        elif value not in (None, [], ""):
            lines.append(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    say_result(facts, *lines, as_json=asked.as_json)


def _options_of(pattern: EntityPattern) -> Iterator[str]:
    """Yield the score of a pattern, and its unusual options."""
    yield f"score {pattern.score}"
    if pattern.ignore_case:
        yield "case: ignore"
    for name, value in (("boundary", pattern.boundary), ("guard", pattern.guard)):
        if value == "none":
            yield f"{name}: none"
    if pattern.validator is not None:
        yield f"validator: {pattern.validator}"
    for name in ("preceded_by", "followed_by", "unless"):
        if phrases := getattr(pattern, name):
            yield f"{name}: {' | '.join(phrases)}"


@entities_app.command("test", epilog=examples(*_TEST))
@takes(TryEntities)
def try_all(asked: TryEntities) -> None:
    """Try entities: 20 drawn values of each must be found as what they are, 10 look-alikes refused. Exit code 1 if one fails."""
    found = try_entities(asked, asked.id, seed=asked.seed)
    lines = [f"{entity.where} {entity.id}: {error}" for entity, error in found.faults]
    for one in (one for one in found.trials if not one.passed):
        words = f"{one.found}/{one.positives} found, {one.refused}/{one.negatives} look-alikes refused"
        lines.append(f"{one.entity.where} {one.entity.id}: {words}{'' if one.validated else ', not validated'}")
        failures = one.failures if asked.explain else ()
        lines += [f"    {told.kind}: {told.text!r}; found there: {', '.join(told.found) or 'nothing'}" for told in failures]
    say_result(found.to_json(), *lines, f"{found.passed} of {counted(found.tried, 'entity')} passed", as_json=asked.as_json)
    if found.passed < found.tried:
        raise typer.Exit(1)


@entities_app.command("propose", epilog=examples(*_PROPOSE))
@takes(ProposeEntities)
def propose(asked: ProposeEntities) -> None:
    """Have a model write patterns for entities from their definitions and values; nothing is added to the catalogue.

    The definition (source), some values and the look-alikes of each draft are sent. Patterns that are slow, miss drawn values or match
    look-alikes are asked for again. The file is for you to read: --types FILE of detect and entities test uses it.
    """
    from piiloom.detection.pattern_proposals import Proposal, propose_patterns

    with asking(asked.replies, wanted=not asked.as_json):
        proposals = propose_patterns(asked.file, asked.out, asked, force=asked.force)
    if asked.as_json:
        say_json({"out": str(asked.out), **proposals.to_json()})
        return
    for name, one in proposals.found.items():
        if isinstance(one, Proposal):
            trial = one.trial
            say(f"{name}: {trial.found}/{trial.positives} found, {trial.refused}/{trial.negatives} look-alikes refused")
            for pattern in one.entry["patterns"]:
                say(f"  pattern: {pattern['pattern']}  (score {pattern['score']})")
        else:
            say(f"{name}: no pattern passed after {counted(one.attempts, 'attempt')}: {one.code}: {one.message}")
    totals = proposals.totals
    say(f"cost: {'unknown' if totals.unpriced else dollars(totals.spent_usd)} for {counted(totals.answered, 'reply')}")
    say(f"{asked.out}: read it, then use it: piiloom detect --types {asked.out}")
