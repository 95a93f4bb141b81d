"""Words that would be a mention without a mark are seen wherever they stand, and gone round."""

from __future__ import annotations

import random
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from piiloom.generation.composer.scenario_texts import draw_clear, expand_clear, says_any, to_avoid
from tests.generation.composer_bits import rngs
from tests.longer import case_by_case, examples

# Few letters, so that values are met often; with what counts as part of a word and what only looks like it.
texts = st.text(alphabet="aab _-'’.é́ß²1Ⅷ", max_size=14)
values = st.lists(st.text(alphabet="aab _-'é1²", min_size=1, max_size=3), max_size=3)


def oracle(text, wanted):
    """What "as whole words" means, said by a regular expression: no letter or digit next to it."""
    return any(re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", text) for value in wanted)


@given(texts, values)
@example("aab a", ["a"])
@example("ab-ab", ["ab"])
@example("aaaa aa", ["aa"])
@example("a", ["a"])
@example("", ["a"])
@settings(deadline=None, max_examples=examples(400))
def test_whole_words_are_found_as_a_regular_expression_finds_them(text, wanted):
    assert says_any(text, wanted) == oracle(text, wanted)


@case_by_case(
    ("text", "said"),
    [
        ("my sister's van", True),
        ("my sisters", False),
        ("Sister!", True),
        ("half-sister", True),
        ("34 of us", True),
        ("340 of us", False),
        ("we are 34.", True),
    ],
)
def test_case_is_no_matter(text, said):
    assert says_any(text.casefold(), to_avoid((), ["SISTER", "34"])) is said


@given(rngs)
@settings(deadline=None)
def test_an_expansion_that_says_a_value_is_not_taken(rng):
    assert expand_clear("My <sister|boss|nurse> came.", to_avoid((), ["Sister", "nurse"]), rng) in {"My boss came.", None}
    assert expand_clear("My sister came.", to_avoid((), ["sister"]), rng) is None
    assert expand_clear("My sister came.", (), rng) == "My sister came."


@given(rngs)
@settings(deadline=None)
def test_a_slot_says_nothing_of_itself(rng):
    # "health" stands in the pattern as the name of a slot, not as a word.
    assert expand_clear("With {health} I came.", ("health",), rng) == "With {health} I came."


@given(rngs)
@settings(deadline=None)
def test_another_pattern_is_drawn_where_one_always_says_a_value(rng):
    assert draw_clear(["My sister came.", "They all came."], ("sister",), rng) in {"They all came.", "My sister came."}
    assert draw_clear(["My sister came."], ("sister",), rng) == "My sister came."


def test_a_clear_pattern_is_nearly_always_found():
    drawn = [draw_clear(["My sister came.", "They all came."], ("sister",), random.Random(seed)) for seed in range(500)]
    assert drawn.count("They all came.") >= 495
