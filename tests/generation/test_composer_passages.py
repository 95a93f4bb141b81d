"""The composer's posts: every mark once, the right one first, about as long as wanted, laid out as a register does."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import MARK
from piiloom.generation.composer.provider import compose_passage, lay_out
from piiloom.generation.composer.scenario_texts import says_any
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.text_shapes import load_registers
from tests.generation.composer_bits import PLAIN_TALK, brief, fits, length, marks, register, rngs

MATTER = "As [[v2|air traffic controller]] with [[v1|asthma]] I cough.\nThe rota is fixed.\nNobody has offered me another slot so far."
ASIDES = ("My cousins moved to [[v4|Dayton]].", "The form says [[v5|CLM-48Q]].")
OPENING = "Asking for my [[v6|sister]]:"
ENDING = "Thanks, [[v7|Ines]]"
ALL = ("v1", "v2", "v4", "v5")
NO_TALK = replace(PLAIN_TALK, chatter=(), distractors=(), asks=(), openers={}, closers={}, turns=(), quoted=())


def passage(rng, *sentences, talk=PLAIN_TALK, ids=ALL, **changes):
    return compose_passage(sentences or (MATTER, *ASIDES), talk, brief(*ids, **changes), rng)


@given(rngs, st.permutations((MATTER, *ASIDES)), st.sampled_from(["high", "low"]), st.sampled_from(tuple(load_registers())))
@settings(deadline=None)
def test_a_post_keeps_every_mark_and_leads_as_asked(rng, sentences, lead, name):
    post = passage(
        rng, *sentences, lead=lead, register=name, talk=load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).talk, words=60
    )
    found = marks(post)
    assert sorted(value_id for value_id, _ in found) == sorted(ALL)
    assert ("low" if found[0][0] in {"v4", "v5"} else "high") == lead
    assert post == post.strip()


@given(rngs, st.sampled_from(["forum post", "second-hand", "long story"]))
@settings(deadline=None)
def test_an_opening_comes_before_everything_and_an_ending_after(rng, name):
    ids = (*ALL, "v6", "v7")
    changes = {"opening": "v6", "ends": frozenset({"v7"}), "lead": "low", "register": name}
    post = passage(rng, ENDING, MATTER, OPENING, *ASIDES, ids=ids, talk=replace(PLAIN_TALK, openers={}, closers={}), **changes)
    assert marks(post)[0][0] == "v6"
    assert marks(post)[-1][0] == "v7"
    assert 10 < post.index("[[v6|") < 20  # a slip of the pen may have changed the words before it
    assert post.lower().endswith("[[v7|ines]]")


@given(rngs)
@settings(deadline=None)
def test_a_post_is_its_sentences_in_some_order(rng):
    post = passage(rng, talk=NO_TALK)
    units = [*MATTER.split("\n"), *ASIDES]
    for unit in units:
        post = post.replace(unit, "", 1)
    assert post.strip() == ""


def test_sentences_about_the_matter_may_be_moved_apart():
    orders = {tuple(MARK.sub(r"\1", passage(random.Random(seed), talk=NO_TALK)).split(". ")) for seed in range(300)}
    assert len(orders) > 40
    posts = [passage(random.Random(seed), talk=NO_TALK) for seed in range(300)]
    between = [post for post in posts if re.search(r"rota is fixed\.\s(?:My cousins|The form)", post)]
    assert 20 < len(between) < 280


@given(rngs)
@settings(deadline=None)
def test_what_is_added_discloses_nothing_and_is_the_banks(rng):
    post = passage(rng, talk=replace(PLAIN_TALK, turns=()), words=80)
    for unit in [*MATTER.split("\n"), *ASIDES]:
        post = post.replace(unit, "")
    patterns = [*PLAIN_TALK.chatter, *PLAIN_TALK.distractors, *PLAIN_TALK.asks]
    added = re.findall(r"\S[^.?!]*[.?!]", post)
    assert added
    assert all(any(fits(text, pattern) for pattern in patterns) for text in added)
    assert len(set(added)) == len(added)


@given(rngs)
@settings(deadline=None)
def test_a_text_without_values_is_small_talk_around_the_matter(rng):
    post = passage(rng, "The rota is fixed.\nNobody asked.", ids=(), words=50)
    assert marks(post) == []
    assert "ota is fixed." in post
    assert "obody asked." in post
    assert length(post) > 15


@pytest.mark.parametrize("name", ["forum post", "plain statement", "e-mail to support", "long story", "second-hand"])
@pytest.mark.parametrize("target", [60, 120, 250])
def test_the_wanted_length_is_approached(name, target):
    lengths = [
        length(
            passage(
                random.Random(seed),
                register=name,
                words=target,
                talk=load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).talk,
            )
        )
        for seed in range(60)
    ]
    # Greetings, a closing line and a last question come on top.
    assert abs(median(lengths) - target) <= 15 + 0.12 * target
    assert max(lengths) < target * 1.5 + 45
    assert min(lengths) > target * 0.6


def test_sentences_that_are_long_enough_get_no_company():
    posts = [passage(random.Random(seed), words=12, distractors=False, talk=replace(PLAIN_TALK, asks=())) for seed in range(50)]
    assert all("Chatter" not in post for post in posts)


def test_distractors_come_unless_they_are_left_out():
    with_them = [passage(random.Random(seed), words=70) for seed in range(100)]
    assert any("Honda" in post for post in with_them)
    assert not any("Honda" in passage(random.Random(seed), words=70, distractors=False) for seed in range(100))


@given(rngs)
@settings(deadline=None)
def test_small_talk_says_no_value_by_chance(rng):
    said = replace(brief(*ALL), texts=("number", "hello", "Thanks", "you", "honda"), words=90, register="forum post")
    post = compose_passage((MATTER, *ASIDES), PLAIN_TALK, said, rng)
    assert not says_any(post.casefold(), ("number", "hello", "thanks", "you", "honda"))


def test_turns_of_phrase_keep_the_grammar_of_what_follows():
    posts = [passage(random.Random(seed), talk=replace(PLAIN_TALK, openers={}, closers={})) for seed in range(200)]
    after = [word for post in posts for word in re.findall(r"(?:By the way|Also), (\S+)", post)]
    assert len(after) > 60
    # A word that keeps its capital does so; one that may follow a turn loses it; before others there is no turn.
    assert set(after) == {"my", "the", "nobody"}
    kept = [passage(random.Random(seed), "I wait.\nI hope.", talk=PLAIN_TALK, ids=()) for seed in range(60)]
    assert {word for post in kept for word in re.findall(r"(?:By the way|Also), (I\S*|i\S*)", post)} == {"I"}


# Layouts


def laid(seed=1, units=("One.", "Two.", "Three."), opener=None, closer=None, quoted=None, **changes):
    known = register(**changes)
    return lay_out(
        units, known, opener=opener, closer=closer, quoted=quoted, subject_word="Subject", topic="shift work", rng=random.Random(seed)
    )


@pytest.mark.parametrize(
    ("chance", "joined"), [(0.0, "Hi. One. Two. Three. Bye."), (1.0, "Hi.\n\nOne.\n\nTwo.\n\nThree.\n\nBye.")], ids=["run on", "broken"]
)
def test_prose_is_broken_into_paragraphs_by_chance(chance, joined):
    assert laid(opener="Hi.", closer="Bye.", paragraphs=chance) == joined
    assert laid(paragraphs=0.0) == "One. Two. Three."


def test_a_list_has_a_line_for_each_sentence():
    found = {laid(seed, layout="list", opener="Facts:", closer="Thoughts?") for seed in range(60)}
    bullets = {text.split("\n")[1].removesuffix("One.") for text in found}
    assert bullets == {"- ", "* ", "• ", ""}
    assert found == {"\n".join(["Facts:", *(b + unit for unit in ("One.", "Two.", "Three.")), "Thoughts?"]) for b in bullets}
    assert laid(layout="list").count("\n") == 2


def test_a_mail_has_its_parts_in_order():
    found = {laid(seed, layout="mail", opener="Dear team,", closer="Regards", quoted="Hello.\nBye.", paragraphs=0) for seed in range(40)}
    body = "Dear team,\n\nOne. Two. Three.\n\nRegards\n\n> Hello.\n> Bye."
    assert found == {body, f"Subject: Shift work\n\n{body}"}
    assert laid(2, layout="mail") in {"One. Two. Three.", "Subject: Shift work\n\nOne. Two. Three."}


def test_a_text_of_nothing_is_empty():
    assert laid(units=()) == ""
