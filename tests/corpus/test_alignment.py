"""The repair ladder, rung by rung, with the slips that models make."""

import pytest

from piiloom.corpus.alignment import AlignmentTarget, MarkedMention, align, locate_reply, strip_marks
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case


def run(marked, **values):
    stripped = strip_marks(marked)
    alignment = align(stripped.text, stripped.mentions, [AlignmentTarget(value_id=k, text=v) for k, v in values.items()])
    spans = [(s.value_id, stripped.text[s.start : s.end], s.rung) for s in alignment.spans]
    return spans, {u.value_id: u.reason for u in alignment.unresolved}, [(d.value_id, d.reason) for d in alignment.dropped]


def test_marks_are_believed_when_they_hold_the_value():
    assert run("As a [[v2|nurse]] with [[v1|asthma]], I cough.", v1="asthma", v2="nurse") == (
        [("v2", "nurse", "mark"), ("v1", "asthma", "mark")],
        {},
        [],
    )


@case_by_case(
    ("marked", "value", "surface"),
    [
        ("[[v1|Asthma]] hit me.", "asthma", "Asthma"),
        ("My [[v1| asthma ]] is back.", "asthma", "asthma"),
        ("I am [[v1|5’7”]] tall.", "5'7\"", "5’7”"),
        ("My [[v1|ex‑husband]] left.", "ex-husband", "ex‑husband"),
        ("A [[v1|hip\u00a0replacement]] it was.", "hip replacement", "hip\u00a0replacement"),
        ("In [[v1|Que\u0301bec]] then.", "Québec", "Que\u0301bec"),
        ("Met at [[v1|7:45 PM]] sharp.", "7:45 pm", "7:45 PM"),
        ("[[v1|Type 2 diabetes]] it is.", "type 2 diabetes", "Type 2 diabetes"),
        ("[[v1|Ann]]'s car.", "Ann", "Ann"),
        ("[[v1|dana]] said so.", "Dana", "dana"),
    ],
)
def test_a_mark_in_another_spelling_still_counts(marked, value, surface):
    assert run(marked, v1=value) == ([("v1", surface, "mark")], {}, [])


def test_every_mention_becomes_a_span_marked_or_not():
    spans, unresolved, dropped = run("Asthma is mean. My [[v1|asthma]] and [[v1|asthma]], asthma again; asthmatic I am.", v1="asthma")
    assert [s[1] for s in spans] == ["Asthma", "asthma", "asthma", "asthma"]
    assert [s[2] for s in spans] == ["normalised", "mark", "mark", "exact"]
    assert (unresolved, dropped) == ({}, [])


def test_case_tells_a_name_from_a_word():
    spans, _, _ = run("I will call [[v1|Will]], and Will will answer; WILL he?", v1="Will")
    assert [s[1] for s in spans] == ["Will", "Will"]
    assert run("I will call him.", v1="Will")[1] == {"v1": "missing"}


@case_by_case("value", ["$52,400", "5'7\"", "C++", "(555) 010-0100", "@home", "Ph.D.", "#1 fan", "dana_whitlock84"])
def test_values_with_other_characters_at_their_edges_are_found(value):
    assert run(f"So {value}, as said: {value}.", v1=value)[0] == [("v1", value, "exact"), ("v1", value, "exact")]


def test_lost_marks_fall_to_search():
    assert run("My asthma again.", v1="asthma")[0] == [("v1", "asthma", "exact")]
    assert run("I live in dayton now.", v1="Dayton")[0] == [("v1", "dayton", "normalised")]
    assert run("A hip\nreplacement it was, HIP REPLACEMENT!", v1="hip replacement")[0] == [
        ("v1", "hip\nreplacement", "normalised"),
        ("v1", "HIP REPLACEMENT", "normalised"),
    ]


@case_by_case(
    ("text", "value", "surface"),
    [
        ("my astma is back", "asthma", "astma"),
        ("an air trafic controler like me", "air traffic controller", "air trafic controler"),
        ("Ridgemont Comunity College took me", "Ridgemont Community College", "Ridgemont Comunity College"),
        ("the dayshift manager", "night shift manager", None),
        ("a nightshift manager here", "night shift manager", "nightshift manager"),
        ("the carpentr's bench", "carpenter", "carpentr"),
    ],
)
def test_the_fuzzy_rung_takes_slips_of_the_pen(text, value, surface):
    spans, unresolved, _ = run(text, v1=value)
    assert spans == ([("v1", surface, "fuzzy")] if surface else [])
    assert bool(unresolved) == (surface is None)


@case_by_case(
    ("text", "value", "reason"),
    [
        ("I owe $52,401 now", "$52,400", "missing"),
        ("card 4111 1111 1111 1112", "4111 1111 1111 1111", "missing"),
        ("ticket bk-40917c", "BK-40917C", "missing"),
        ("in 2013", "2012", "missing"),
        ("it says 5²", "52", "missing"),
        ("my type 3 diabetes", "type 2 diabetes", "missing"),
        ("with hypothyroidism", "hyperthyroidism", "missing"),
        ("Diana Whitlock", "Dana Whitlock", "missing"),
        ("Julian", "Julia", "inside_word"),
        ("Juliana", "Julian Ma", "missing"),
        ("an Annual fair", "Ann", "inside_word"),
        ("two carpenters", "carpenter", "inside_word"),
        ("nothing", "asthma", "missing"),
        ("nothing", " \u200b", "empty"),
    ],
)
def test_another_value_is_not_the_value(text, value, reason):
    assert run(text, v1=value)[:2] == ([], {"v1": reason})


def test_a_mark_around_something_else_is_changed():
    assert run("My [[v1|lung disease]] again.", v1="asthma") == ([], {"v1": "changed"}, [("v1", "changed")])
    spans, unresolved, dropped = run("My [[v1|lung disease]], asthma.", v1="asthma")
    assert (spans, unresolved, dropped) == ([("v1", "asthma", "exact")], {}, [("v1", "changed")])
    assert run("I hear [[v1|an asthma attack]].", v1="asthma")[0] == [("v1", "asthma", "exact")]


def test_a_mark_inside_a_word_is_none():
    assert run("[[v1|Ann]]ual fair.", v1="Ann") == ([], {"v1": "inside_word"}, [("v1", "inside_word")])


def test_unknown_and_swapped_ids():
    assert run("[[v9|Bob]] and [[v1|Ann]].", v1="Ann") == ([("v1", "Ann", "mark")], {}, [("v9", "unknown_id")])
    spans, unresolved, _ = run("[[v1|nurse]] with [[v2|asthma]]", v1="asthma", v2="nurse")
    assert (spans, unresolved) == ([("v2", "nurse", "exact"), ("v1", "asthma", "exact")], {})


@pytest.mark.parametrize("broken", ["[[v1|asthma] again", "[[v1 asthma]] again", "[[v1|asth[ma]] again", "[[ v1|asthma]] again"])
def test_broken_marks_are_not_patched_over(broken):
    stripped = strip_marks(broken)
    alignment = align(stripped.text, stripped.mentions, [AlignmentTarget(value_id="v1", text="asthma")])
    assert [u.reason for u in alignment.unresolved] == ["broken_mark"]
    assert not alignment.complete


def test_a_nameless_broken_mark_makes_the_alignment_incomplete():
    alignment = align("My asthma]] again", (), [AlignmentTarget(value_id="v1", text="asthma")])
    assert [(d.value_id, d.reason) for d in alignment.dropped] == [(None, "broken_mark")]
    assert not alignment.unresolved
    assert not alignment.complete


def test_the_longer_value_wins_and_the_shorter_needs_a_mention_of_its_own():
    both = {"v1": "Dana", "v2": "Dana Whitlock"}
    assert run("Dana Whitlock is Dana to me.", **both)[0] == [("v2", "Dana Whitlock", "exact"), ("v1", "Dana", "exact")]
    spans, unresolved, _ = run("Dana Whitlock it is.", **both)
    assert (spans, unresolved) == ([("v2", "Dana Whitlock", "exact")], {"v1": "overlap"})
    assert run("[[v1|Dana]] Whitlock it is.", **both)[2] == [("v1", "overlap")]


def test_two_values_of_one_spelling_stay_apart_by_their_marks():
    spans, unresolved, _ = run("[[v1|Jordan]] met [[v2|Jordan]].", v1="Jordan", v2="Jordan")
    assert (spans, unresolved) == ([("v1", "Jordan", "mark"), ("v2", "Jordan", "mark")], {})


def test_marks_outside_the_text_and_ids_used_twice():
    target = AlignmentTarget(value_id="v1", text="asthma")
    alignment = align("asthma", [MarkedMention(value_id="v1", start=3, end=99)], [target])
    assert [(s.start, s.end, s.rung) for s in alignment.spans] == [(0, 6, "exact")]
    assert [d.reason for d in alignment.dropped] == ["outside"]
    with pytest.raises(UsageError):
        align("asthma", (), [target, target])


@case_by_case(
    ("reply", "found"),
    [
        ("lung disease", (3, 15)),
        (' "lung disease".\n', (3, 15)),
        ("`lung disease`", (3, 15)),
        ("Lung disease", None),
        ("lung dis", None),
        ("", None),
        ("''", None),
        ("asthma", None),
    ],
)
def test_an_answer_must_stand_in_the_text(reply, found):
    assert locate_reply("my lung disease again, lung disease", reply) == found


def test_an_answer_that_ends_in_a_quote_keeps_it():
    text = "I am 5'7\" tall"
    assert locate_reply(text, "5'7\"") == (5, 9)
