"""Wear: a text may suffer as its register says, its marks never, and of its values only case and apostrophes."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import strip_marks
from piiloom.corpus.mention_search import is_same_spelling
from piiloom.generation.composer.surfaces import wear
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.text_shapes import load_registers
from tests.generation.composer_bits import TALK, VALUES, marks, register, rngs

MARKED = (
    "I'm going to rest because of my [[v1|Asthma]], as a [[v2|Pilot's aide]] - \"not a choice\". "
    "Ref [[v5|CLM-48Q]]; I'm [[v8|28F]], called [[v7|Will]], from [[v4|Île-de-France]]! It's late..."
)
KINDS = {**{v: known["type"] for v, known in VALUES.items()}, "v8": "age"}
WEARS = ("lower", "unpointed", "typos", "abbreviations", "emoji", "hesitations", "typographic")


def worn(rng=None, text=MARKED, talk=TALK, **changes):
    return wear(text, register(**changes), talk, KINDS, shipped_taxonomy(), rng or random.Random(1))


def outside(text):
    """What stands between the marks."""
    return re.split(r"\[\[v\d+\|[^\]]*\]\]", text)


def test_a_calm_register_changes_nothing():
    assert worn() == MARKED
    assert worn(talk=replace(TALK, emoji=(), hesitations=(), shorthand={}), emoji=1, hesitations=1, abbreviations=1) == MARKED


@given(rngs, st.fixed_dictionaries({name: st.sampled_from([0.0, 0.5, 1.0]) for name in WEARS}))
@settings(deadline=None)
def test_marks_outlive_any_wear(rng, chances):
    before, after = marks(MARKED), marks(worn(rng, **chances))
    assert [value_id for value_id, _ in after] == [value_id for value_id, _ in before]
    for (_, old), (_, new) in zip(before, after, strict=True):
        assert new.replace("’", "'").lower() == old.lower()
        assert is_same_spelling(new, old)
        assert new.replace("’", "'") == old or chances["lower"]
    assert ("v5", "CLM-48Q") in after


@given(st.sampled_from(tuple(load_registers().values())), rngs, st.text(alphabet=st.characters(exclude_characters="[]|"), max_size=60))
@settings(deadline=None)
def test_marks_outlive_any_register_whatever_stands_around_them(known, rng, around):
    text = f"{around}[[v1|Asthma]] {around} [[v5|CLM-48Q]]{around}"
    after = marks(wear(text, known, load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).talk, KINDS, shipped_taxonomy(), rng))
    assert [(value_id, surface.lower()) for value_id, surface in after] == [("v1", "asthma"), ("v5", "clm-48q")]
    assert after[1][1] == "CLM-48Q"


def test_lower_case_spares_what_would_be_another_value():
    text = worn(lower=1)
    assert all(part == part.lower() for part in outside(text))
    # An identifier is copied; "28f" would be another number word; "will" would be no name.
    assert [surface for _, surface in marks(text)] == ["asthma", "pilot's aide", "CLM-48Q", "28F", "Will", "île-de-france"]


def test_without_punctuation_words_and_apostrophes_stay():
    text = worn(unpointed=1)
    assert not set('.,;:!?"()') & set("".join(outside(text)))
    assert re.findall(r"[\w']+", strip_marks(text).text) == re.findall(r"[\w']+", strip_marks(MARKED).text)
    assert "  " not in text
    assert worn(text="  So [[v1|5'7\"]] !  Yes. ", unpointed=1) == "So [[v1|5'7\"]] Yes"


@given(rngs)
@settings(deadline=None)
def test_every_longer_word_is_mistyped_where_the_chance_is_one(rng):
    before, after = (re.findall(r"[^\W\d_]+", " ".join(outside(text))) for text in (MARKED, worn(rng, typos=1)))
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if len(old) < 4:
            assert new == old
        else:
            assert new[0] == old[0]
            assert abs(len(new) - len(old)) <= 1
            assert sorted(set(new)) == sorted(set(old)) or len(new) < len(old)


def test_long_forms_are_shortened_with_their_capital():
    text = worn(abbreviations=1)
    assert text.startswith(("Im gonna rest bc of", "Im gonna rest cuz of"))
    assert "; im [[v8|" in worn(text=MARKED.replace("; I'm", "; i'm"), abbreviations=1)
    assert worn(text="Becauseway was [[v1|because]]", abbreviations=1) == "Becauseway was [[v1|because]]"


def test_emoji_end_sentences_outside_values():
    assert (
        worn(text="So it goes. [[v1|A. B.]] Really? 3.5 is it. Yes", emoji=1) == "So it goes. 🙂 [[v1|A. B.]] Really? 🙂 3.5 is it. 🙂 Yes"
    )


def test_hesitations_come_between_words_with_a_comma_unless_unpointed():
    text = "so it goes on and on with [[v1|asthma in spring]] " * 40
    said = worn(text=text, hesitations=1)
    assert len(re.findall(r" (?:um|like), ", said)) > 5
    assert re.sub(r" (?:um|like),", "", said) == text
    bare = worn(text=text, hesitations=1, unpointed=1)
    assert "," not in bare
    assert re.search(r" (?:um|like) ", bare)


@pytest.mark.parametrize("seed", range(4))
def test_typography_curls_quotes_and_apostrophes(seed):
    text = worn(random.Random(seed), typographic=1)
    assert "[[v2|Pilot’s aide]]" in text
    assert "“not a choice”" in text
    assert text.startswith("I’m going")
    assert text.endswith("It’s late…")
    assert " - " not in text
    assert "'" not in text
    # Feet and inches, and codes with quotes, are no typography.
    assert worn(text="I am [[v1|5'7\"]] tall", typographic=1) == "I am [[v1|5'7\"]] tall"
