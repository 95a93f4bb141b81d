"""The pipeline: the item stages of each recipe as an ordered tuple, and the judges.

Judges are optional stages between ``spans`` and ``screen`` that hold a finished text against its plan: ``relevance`` asks whether each
value matters as planned, ``leak`` whether a value is given away. Their judgements are stored beside the record, and what goes against the
plan is flagged for annotators (``piiloom.corpus.store.judgements.disagreements``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from piiloom.corpus.store.judgements import JudgementKind
from piiloom.generation.settings.configuration import RecipeName, RunConfig
from piiloom.generation.stage import Stage
from piiloom.generation.stages import (
    abstraction,
    audit,
    judge_leak,
    judge_relevance,
    ledger,
    paraphrase,
    peripheral,
    post,
    question,
    screen,
    sheet,
    situation,
    spans,
    story,
    subtopics,
    topics,
    values,
    verdict,
)

JUDGES: Mapping[JudgementKind, Stage] = MappingProxyType({"relevance": judge_relevance.STAGE, "leak": judge_leak.STAGE})

# Names of the judge stages. The recipe "case" uses "judge_relevance" even if no judge is asked for.
JUDGING = frozenset(stage.name for stage in JUDGES.values())


def judge_stages(names: Collection[JudgementKind]) -> tuple[Stage, ...]:
    """Return the stages of the judges in *names*, always in the same order."""
    return tuple(stage for name, stage in JUDGES.items() if name in names)


# The stages that each item passes by itself, in order; a run may add judges. Before them come the stages that run once per pair or
# topic, after them screening, which sees all items.
RECIPES: Mapping[RecipeName, tuple[Stage, ...]] = MappingProxyType(
    {
        "staged": (values.STAGE, situation.STAGE, peripheral.STAGE, question.STAGE, paraphrase.STAGE, spans.STAGE),
        "case": (
            *(values.STAGE, sheet.STAGE, ledger.STAGE, post.STAGE, abstraction.STAGE, audit.STAGE),
            *(spans.STAGE, verdict.STAGE),
        ),
        "story": (story.STAGE,),
    }
)
FIRST_STAGE = topics.NAME


def item_stages(recipe: RecipeName, judges: Collection[JudgementKind]) -> tuple[Stage, ...]:
    """List the item stages of a run by *recipe* with *judges*, in order; the stage ``verdict`` has asked the judge of relevance already."""
    stages = RECIPES[recipe]
    return (*stages, *judge_stages([name for name in judges if not (name == "relevance" and verdict.STAGE in stages)]))


def all_item_stages() -> tuple[Stage, ...]:
    """List the item stages of all recipes, merged so that the stages of each recipe keep their order."""
    found: list[Stage] = []
    for stages in RECIPES.values():
        place = len(found)
        for stage in reversed(stages):
            if stage in found:
                place = found.index(stage)
            else:
                found.insert(place, stage)
    return (*found, *judge_stages(tuple(JUDGES)))


def stage_names(recipe: RecipeName, judges: Collection[JudgementKind]) -> tuple[str, ...]:
    """List the names of all stages of a run by *recipe* with *judges*, in order."""
    return _with_shared(item_stages(recipe, judges))


def all_stage_names() -> tuple[str, ...]:
    """List the names of the stages of any run."""
    return _with_shared(all_item_stages())


def _with_shared(stages: Sequence[Stage]) -> tuple[str, ...]:
    return (FIRST_STAGE, subtopics.NAME, *(stage.name for stage in stages), screen.NAME)


def templates_of(config: RunConfig) -> tuple[str, ...]:
    """List the names of the templates that a run of *config* may send; they are stored with every record."""
    shared = () if config.recipe == "story" else (*topics.TEMPLATES, *subtopics.TEMPLATES)  # stories come with their own
    in_text = (values.IN_TEXT,) if config.fits_values_to_text else ()
    return (*shared, *in_text, *(name for stage in item_stages(config.recipe, config.judges) for name in stage.templates))
