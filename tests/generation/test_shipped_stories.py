"""The stories that ship: one for each scenario, told exactly, and without a finding."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from piiloom.generation.composer.story_lint import TRIALS, lint_stories
from piiloom.generation.composer.telling import tell
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entities.entity_catalogue import shipped_entities
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.stories import NO_PAIR
from piiloom.taxonomy.story_bank import StoryBank, load_stories, stories_for, story_sources
from piiloom.taxonomy.text_shapes import labels
from tests.longer import EXPLORE


def test_each_scenario_has_its_story_of_the_same_pair():
    stories, scenarios = (
        load_stories("en", extra=None, taxonomy=shipped_taxonomy()),
        load_bank("en", extra=None, taxonomy=shipped_taxonomy()).scenarios,
    )
    of_pairs = {story.id: frozenset(story.pair) for story in stories.values() if story.facts}
    assert of_pairs.items() >= {one.id: frozenset(one.pair) for one in scenarios.values()}.items()
    assert min(len(stories_for(pair)) for pair in shipped_taxonomy().pairs) >= 8


@pytest.mark.parametrize("language", ["pt", "sv"])
def test_other_languages_have_a_story_of_each_pair(language):
    pairs = shipped_taxonomy().pairs
    assert StoryBank(language, extra=None, taxonomy=shipped_taxonomy()).pairs == frozenset(pairs)
    assert all(stories_for(pair, language) for pair in (*pairs, NO_PAIR))


@pytest.mark.long
@pytest.mark.parametrize("locale", ["en_US", "pt_BR", "sv_SE"])
def test_every_story_is_told_with_exact_spans_and_questions_that_differ(locale):
    for story in load_stories(get_locale(locale).language, extra=None, taxonomy=shipped_taxonomy()).values():
        told = tell(story, random.Random(story.id), locale=locale, taxonomy=shipped_taxonomy())
        assert bool(told.spans) == bool(story.facts)
        assert [told.text[span.start : span.end] for span in told.spans] == [span.value for span in told.spans]
        assert len({question.text for question in told.questions}) == 2
        assert any(question.high for question in told.questions) == bool(story.facts)


def test_labels_are_of_known_kinds_and_in_one_group():
    facts = (story.facts.values() for story in load_stories("en", extra=None, taxonomy=shipped_taxonomy()).values())
    known = {fact.subtype for fact in chain.from_iterable(facts)} | {entity.id for entity in shipped_entities()}
    assert labels("en").keys() <= known
    for subtype, groups in labels("en").items():
        lists = [[label.casefold() for label in one] for of in groups for one in (of.field, of.inline)]
        assert all(len(set(one)) == len(one) != 1 for one in lists), subtype
        every = [label for field, inline in zip(lists[::2], lists[1::2], strict=True) for label in {*field, *inline}]
        assert len(set(every)) == len(every), subtype


def test_other_labels_leave_spans_exact(monkeypatch):
    monkeypatch.setattr("piiloom.generation.composer.surfaces._LABEL_CHANGED", 1)
    monkeypatch.setattr("piiloom.generation.composer.surfaces.habit_shares", lambda _: {})
    stories = load_stories("en", extra=None, taxonomy=shipped_taxonomy()).values()
    changed = 0
    for story in [one for one in stories if any(fact.subtype in labels("en") for fact in one.facts.values())][:200]:
        plain, told = (tell(story, random.Random(story.id), habits=habits, taxonomy=shipped_taxonomy()) for habits in (False, True))
        assert [told.text[span.start : span.end] for span in told.spans] == [span.value for span in plain.spans]
        changed += told.text != plain.text
    assert changed > 40


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "pt", "sv"])
def test_they_have_no_findings(language):
    sources = list(story_sources(language))
    findings = lint_stories(sources, shipped_taxonomy(), language, trials=TRIALS if EXPLORE else TRIALS // 4)
    # What so few trials did not show once, more of them may.
    doubted = [source for source in sources if source.name in {finding.file for finding in findings}]
    findings = lint_stories(doubted, shipped_taxonomy(), language) if doubted else []
    assert [str(finding) for finding in findings] == []
