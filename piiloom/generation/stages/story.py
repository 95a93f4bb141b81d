"""The stage of the recipe ``story``: one person's whole text, with a question of it.

In: a plan item that says which text of which story, and which of its questions. Out: the text with its values and spans, each
high or low as the question has it, and the question. Items of one text get the same text; with their questions they are a
contrast group. Nothing is asked of a model: the composer tells (``piiloom.generation.composer.telling``).
"""

from __future__ import annotations

from dataclasses import replace

from piiloom.corpus.alignment import MarkedMention, MarkedText
from piiloom.corpus.record import Span
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.story_writing import ToldStory, wordings_in_turn
from piiloom.generation.composer.telling import StoryUntold, question_round, tell_asked, weighted_questions
from piiloom.generation.item import Item, ItemValue, Question, TextShare
from piiloom.generation.stage import ItemRejected, Stage, StageContext
from piiloom.taxonomy.own_types import with_own_aside
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.telling_plan import plan_of

NAME = "story"


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with text, values, spans and question.

    Raises ``ItemRejected`` if the story cannot be told or has too few questions that can be asked together.
    """
    plan = item.plan
    told, share = plan.told, plan.share
    if told is None or share is None or ctx.stories is None:
        raise ItemRejected("out_of_order", "the item is not of a story", stage=NAME)
    story = ctx.stories.find(plan.pair, told.story)
    if ctx.aside_types and story.facts:
        aside = derive_rng("aside of an own type", share.seed)
        story = with_own_aside(story, ctx.aside_types, aside, ctx.locale.language)
    text = _text(story, told.telling, share, ctx.drawn(str(plan.index)), plan.locale, ctx)
    if share.number >= len(text.questions):
        raise ItemRejected("no_question", f"no {share.records} questions of {story.id} can be asked together", stage=NAME)
    return _filled(item, text, share.number)


def _text(story: Story, telling: int, share: TextShare, drawn: int, locale: str, ctx: StageContext) -> ToldStory:
    """Write the text that all its items share; an item that is tried again (*drawn* > 0) gets another text."""
    if ctx.config.shares is not None:
        asked = weighted_questions(plan_of(story), ctx.config.shares, share.records, derive_rng("story questions", share.seed, drawn))
    else:
        rounds = derive_rng("story rounds", share.seed, story.id) if drawn else derive_rng("story rounds", story.id)
        asked = question_round(plan_of(story), telling, share.records, rounds)
    try:
        turns = wordings_in_turn(story, telling, ctx.config.seed)
        return tell_asked(story, asked, derive_rng("story", share.seed, drawn), ctx.taxonomy, locale=locale, turns=turns)
    except StoryUntold as untold:
        raise ItemRejected("untold", str(untold), stage=NAME) from untold


def _filled(item: Item, text: ToldStory, number: int) -> Item:
    asked = text.questions[number]
    ids = {fact: f"v{place}" for place, fact in enumerate(dict.fromkeys(span.fact for span in text.spans), 1)}
    first = {span.fact: span for span in reversed(text.spans)}
    values = tuple(
        ItemValue(
            id=ids[fact],
            entity_type=first[fact].entity_type,
            subtype=first[fact].subtype,
            text=first[fact].value,
            relevance="high" if fact in asked.high else "low",
            subject=first[fact].subject,
        )
        for fact in ids
    )
    spans = tuple(
        Span(
            id=f"s{place}",
            start=span.start,
            end=span.end,
            entity_type=span.entity_type,
            relevance="high" if span.fact in asked.high else "low",
            subtype=span.subtype,
            value_id=ids[span.fact],
            subject=span.subject,
        )
        for place, span in enumerate(text.spans, 1)
    )
    mentions = tuple(MarkedMention(value_id=ids[span.fact], start=span.start, end=span.end) for span in text.spans)
    question = Question(draft=asked.text, personal=asked.text, abstracted=asked.text)
    rationale = "; ".join(f"{first[fact].value} ({first[fact].entity_type}): {asked.high[fact]}" for fact in ids if fact in asked.high)
    passage = MarkedText(text=text.text, mentions=mentions)
    told = replace(item, values=values, spans=spans, question=question, passage=passage)
    return replace(told, rationale=rationale or None, lookalikes=text.lookalikes)


STAGE = Stage(name=NAME, templates=(), run=run)
