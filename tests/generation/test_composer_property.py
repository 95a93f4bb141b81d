"""Whatever is planned, the composer makes a text in which every span is exact, and a question that gives nothing away."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from piiloom.corpus.mention_search import is_same_spelling
from piiloom.foundation.words import count_words
from piiloom.generation.stage import ItemRejected
from piiloom.taxonomy.bank_checks import CUE_LEVELS
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import load_locales
from piiloom.taxonomy.text_shapes import load_registers
from tests.generation.composed_items import loom, planned
from tests.longer import EXPLORE

BANK = load_bank(language="en", extra=None, taxonomy=shipped_taxonomy())
LOCALES = tuple(code for code, locale in load_locales().items() if locale.composer and locale.language == "en")
# What may befall a plan that is in order: the persona has no such values, or every wording of the question says one of them.
UNLUCKY = {("values", "no_values"), ("question", "question.content_word"), ("question", "question.value")}


@pytest.fixture(scope="module")
def woven():
    """Takes a plan through all item stages: the finished item."""
    with loom(BANK) as made:

        def weave(plan):
            outcome = made.weave(plan)
            if isinstance(outcome.rejection, ItemRejected):
                assert (outcome.rejection.stage, outcome.rejection.code) in UNLUCKY, outcome.rejection
                reject()
            return outcome.item

        yield weave


@pytest.mark.long
@given(
    index=st.integers(0, 2**32),
    scenario=st.sampled_from(tuple(BANK.scenarios.values())),
    register=st.sampled_from(tuple(load_registers())),
    locale=st.sampled_from(LOCALES),
    cue_level=st.sampled_from(CUE_LEVELS),
)
@settings(deadline=None, max_examples=150 if EXPLORE else 80, suppress_health_check=[HealthCheck.too_slow])
def test_every_text_is_exact(woven, index, scenario, register, locale, cue_level):
    plan = planned(index, scenario, bank=BANK, cue_level=cue_level, registers=(register,), locale=locale)
    item = woven(plan)
    check_spans(item)
    check_mentions(item)
    check_question(item)
    check_text(item)


def check_spans(item):
    """Sorted, apart, each its value to the letter but for case and curly apostrophes; the planned relevance first."""
    text = item.passage.text
    places = [(span.start, span.end) for span in item.spans]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(places))
    for span in item.spans:
        value = item.value(span.value_id)
        assert straight(span.text_in(text)) == straight(value.text)
        assert is_same_spelling(span.text_in(text), value.text)
        assert (span.entity_type, span.subtype, span.relevance) == (value.entity_type, value.subtype, value.relevance)
    assert {span.value_id for span in item.spans} == {wanted.id for wanted in item.plan.wanted}
    assert (item.spans[0].relevance if item.spans else None) == item.plan.lead
    by_id = [span.value_id for span in item.spans]
    for aside in item.plan.asides:
        assert not aside.opening or by_id[0] in aside.values
        assert not aside.closing or by_id[-1] in aside.values


def check_mentions(item):
    """No value stands anywhere outside a span, in whatever case, as whole words."""
    text = straight(item.passage.text)
    for value in item.values:
        for found in re.finditer(rf"(?<!\w){re.escape(straight(value.text))}(?!\w)", text):
            assert any(span.start <= found.start() and found.end() <= span.end for span in item.spans), value.text


def check_question(item):
    question = item.question.abstracted
    assert question[0].isupper()
    assert question[-1] == "?"
    assert question.count("?") <= 3  # its own, and two on themes at most
    assert not set("{}<>[]|\n") & set(question)
    assert 4 <= count_words(question) <= 60
    for value in item.values:
        assert not re.search(rf"(?<!\w){re.escape(value.text)}(?!\w)", question, re.IGNORECASE)


def check_text(item):
    """Nothing of the notation is left; ">" quotes a mail below its answer."""
    text, plan = item.passage.text, item.plan
    assert text == text.strip()
    assert not set("{}<[]|") & set(text)
    assert all(text[found.start() - 1] == "\n" for found in re.finditer(">", text))
    assert "  " not in text
    assert plan.context_words[0] <= count_words(text) <= plan.context_words[1]


def straight(text):
    """*text* in lower case with straight apostrophes, as long as before."""
    lowered = text.lower()
    return (lowered if len(lowered) == len(text) else text).replace("’", "'")
