"""Telling a story: what is told, what is high, and how values come to stand where they do."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.generation.composer.story_values import spelled_number
from piiloom.generation.composer.story_writing import AskedQuestion, ToldSpan, ToldStory, mentions, wordings_in_turn
from piiloom.generation.composer.surfaces import with_habit
from piiloom.generation.composer.telling import StoryUntold, tell, tell_asked, tell_once
from piiloom.pii_values.consistency import matching_heritages, reminds_of
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.telling_plan import Asking, plan_of
from piiloom.taxonomy.text_shapes import FieldLabels, habit_shares
from tests.longer import case_by_case
from tests.taxonomy.story_example import STORY, story_of

BARE = """\
stories:
  - id: finance-location.bare
    pair: [finance, location]
    topic: bare
    subtopics: [bare]
    voice: VOICE
    cast: {writer: {}, friend: {}}
    facts:
      home: {type: location.city, any: VALUES}
      fee: {type: finance.amount, number: [20, 60, 10], as: ["${n}"]}
    text:
STEPS
    questions:
      - {id: wet, ask: ["How wet does it get?"], needs: {home: rain is local}}
      - {id: dear, ask: ["Is it too much?"], needs: {fee: it is what is asked}}
"""


def bare(folder: Path, *steps: str, values: str = "[Akron]", voice: str = "forum") -> Story:
    """A story with the *steps* given, in flow style."""
    lines = "\n".join(f"      - {step}" for step in steps)
    return story_of(folder, BARE.replace("VOICE", voice).replace("VALUES", values).replace("STEPS", lines))


def told(story: Story, number: int = 200, *, habits: bool = False) -> list[ToldStory]:
    rng = random.Random(5)
    return [tell(story, rng, habits=habits, taxonomy=shipped_taxonomy()) for _ in range(number)]


def test_the_same_seed_gives_the_same_text(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    assert tell(story, random.Random("a"), taxonomy=shipped_taxonomy()) == tell(story, random.Random("a"), taxonomy=shipped_taxonomy())
    assert len({one.text for one in told(story)}) > 150


def test_spans_are_exact_and_high_is_what_the_question_says(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    questions = {question.id: question for question in story.questions}
    for one in told(story):
        facts = {span.fact for span in one.spans}
        assert [one.text[span.start : span.end] for span in one.spans] == [span.value for span in one.spans]
        assert len(one.questions) == 2
        for asked in one.questions:
            question = questions[asked.id]
            assert facts >= set(question.needs)
            assert not facts & question.moot
            assert asked.high.keys() == {fact for fact in facts if question.decides(fact)}


def test_two_questions_turn_on_different_facts(tmp_path: Path) -> None:
    pairs = Counter(tuple(question.id for question in one.questions) for one in told(story_of(tmp_path)))
    assert set(pairs) == {("legal", "leave"), ("leave", "work"), ("legal", "who"), ("leave", "who")}
    assert all(one.questions[0].high != one.questions[1].high for one in told(story_of(tmp_path)))


def test_what_a_question_presupposes_is_told(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    asked = [one for one in told(story) if any(question.id == "leave" for question in one.questions)]
    assert asked
    assert all("mate" in {span.fact for span in one.spans} for one in asked)


def test_a_single_question_may_be_asked(tmp_path: Path) -> None:
    found = [tell(story_of(tmp_path), random.Random(n), questions=1, taxonomy=shipped_taxonomy()).questions for n in range(40)]
    assert {len(questions) for questions in found} == {1}
    assert {questions[0].id for questions in found} == {"legal", "leave", "work", "who"}


def test_a_step_waits_for_the_fact_it_speaks_of(tmp_path: Path) -> None:
    story = bare(
        tmp_path,
        "{p: 0.5, say: ['I pay {fee}.']}",
        "{with: [fee], say: ['That is dear.']}",
        "{say: ['This is {home}.']}",
    )
    plan = plan_of(story)
    texts = [tell_once(story, (Asking(question=0),), random.Random(n), locale="en_US", taxonomy=shipped_taxonomy()) for n in range(50)]
    assert {("I pay" in one.text, "dear" in one.text) for one in texts if isinstance(one, ToldStory)} == {(True, True), (False, False)}
    assert plan.demand((0,)).forced == {2}


def test_neighbours_of_a_group_change_places(tmp_path: Path) -> None:
    story = bare(tmp_path, "{group: g, say: ['I pay {fee}.']}", "{group: g, say: ['This is {home}.']}", "{say: ['Well.']}")
    starts = Counter(one.text.split()[0] for one in told(story))
    assert set(starts) == {"I", "This"}
    assert min(starts.values()) > 60
    assert all(one.text.endswith("Well.") for one in told(story))


def test_each_admissible_wording_is_as_likely(tmp_path: Path) -> None:
    story = bare(tmp_path, "{say: ['In {home} at {fee}.', '{home}, {fee}.', 'For {fee} in {home}.']}")
    counted = Counter(one.text[:2] for one in told(story, 900))
    assert len(counted) == 3
    assert min(counted.values()) > 240


def test_successive_texts_take_their_wordings_in_turn(tmp_path: Path) -> None:
    story = bare(
        tmp_path,
        "{say: ['In {home} at {fee}.', '{home}, {fee}.', 'For {fee} in {home}.']}",
        "{say: ['Well.', 'So.']}",
        "{say: ['Thanks.', 'Bye, {fee}.']}",
    )
    turns = [wordings_in_turn(story, telling, 7) for telling in range(6)]
    texts = [
        tell_asked(story, (Asking(question=0),), random.Random(1), shipped_taxonomy(), turns=turn).text.split(".")[0][:2] for turn in turns
    ]
    assert [sorted(texts[:3]), sorted(texts[3:])] == [["Ak", "Fo", "In"]] * 2
    assert len({tuple(step[0] for step in turn) for turn in turns}) >= 5
    assert turns == [wordings_in_turn(story, telling, 7) for telling in range(6)]
    assert turns != [wordings_in_turn(story, telling, 8) for telling in range(6)]


def test_a_moot_fact_leaves_the_wordings_without_it(tmp_path: Path) -> None:
    text = STORY.replace('"It goes from {old}', '"From {old}').replace("moot: [tie]", "moot: [tie, mate]")
    text = text.replace('"Ask {mate}, who knows how it works in {home}."', '"We live in {home}."')
    for one in told(story_of(tmp_path, text)):
        if any(question.id == "work" for question in one.questions):
            assert "mate" not in {span.fact for span in one.spans}


def test_articles_capitals_and_pronouns_agree(tmp_path: Path) -> None:
    story = bare(
        tmp_path,
        "{say: ['{^:home} is {A:home} town, {a:home} one, says {friend.he} for {fee}.']}",
        values="[akron, dayton]",
    )
    texts = {one.text.split(", says")[0] for one in told(story)}
    assert texts == {"Akron is An akron town, an akron one", "Dayton is A dayton town, a dayton one"}
    assert {one.text.split("says ")[1].split()[0] for one in told(story)} == {"he", "she"}
    assert all([span.value for span in one.spans][:2] == [one.spans[0].value, one.spans[0].value.lower()] for one in told(story))


def test_other_languages_have_their_own_pronouns(tmp_path: Path) -> None:
    story = bare(tmp_path, "{say: ['Em {home} por {fee}, diz {friend.ele} e a mãe {friend.dele}.']}")
    texts = {
        tell(story, random.Random(seed), locale="pt_BR", habits=False, taxonomy=shipped_taxonomy()).text.split(", ")[1]
        for seed in range(30)
    }
    assert texts == {"diz ele e a mãe dele.", "diz ela e a mãe dela."}


FITTING = BARE.replace(
    "      fee:",
    """\
      me: {type: name.full_name, of: writer}
      mail: {type: code.email, draw: true}
      user: {type: name.username, draw: true}
      iban: {type: code.iban, draw: true}
      nat: {type: demographic.nationality, any: [Japanese, Nigerian]}
      age: {type: age.years, any: ["19", "24"]}
      job: {type: occupation.job_title, any: [barista, dentist, retired teacher]}
      fee:""",
)


def test_what_belongs_to_one_person_fits(tmp_path: Path) -> None:
    """A name has the told origin, addresses are made of it, a job fits the told age, and an IBAN is of the named country."""
    step = "{say: ['{home} {fee} {me}/{mail}/{user}/{iban}/{nat}/{age}/{job}']}"
    story = story_of(tmp_path, FITTING.replace("VOICE", "forum").replace("VALUES", "[Berlin]").replace("STEPS", f"      - {step}"))
    for one in told(story, 100):
        value = {span.fact: span.value for span in one.spans}
        given, _, family = value["me"].partition(" ")
        assert value["job"] == "barista"
        assert value["iban"].startswith("DE")
        assert reminds_of(value["mail"], given, family)
        assert reminds_of(value["user"], given, family)
        origin = matching_heritages("en_US", (value["nat"],), ())
        assert origin is not None
        assert family in origin.items[0].family.items


def test_paragraphs_are_lines_in_a_chat(tmp_path: Path) -> None:
    steps = ("{say: ['In {home}.']}", "{para: true, say: ['For {fee}.']}")
    assert "\n\nFor" in told(bare(tmp_path, *steps))[0].text
    assert ".\nFor" in told(bare(tmp_path, *steps, voice="chat"))[0].text


def test_values_that_are_alike_are_drawn_anew(tmp_path: Path) -> None:
    story = bare(tmp_path, "{say: ['In the Dayton hall of {home} for {fee}.']}", values="[Dayton, Akron, Dayton Falls]")
    assert {one.spans[0].value for one in told(story)} == {"Akron", "Dayton Falls"}
    nested = story_of(tmp_path, STORY.replace("times: [1.1, 1.2]", "times: [1]"))
    with pytest.raises(StoryUntold, match="alike"):
        told(nested)


def test_a_question_that_would_give_a_value_away_is_not_asked_of_it(tmp_path: Path) -> None:
    text = STORY.replace("[usher,", "[house painter,").replace("with what I do?", "as painters do?")
    for one in told(story_of(tmp_path, text)):
        if any(question.id == "work" for question in one.questions):
            assert "house painter" not in one.text
    capital = bare(tmp_path, "{say: ['In {home} for {fee}.']}", values="[Wet, Akron]")
    assert {one.spans[0].value for one in told(capital) if one.questions[0].id == "wet"} == {"Akron"}


def test_a_story_that_cannot_be_told_says_why(tmp_path: Path) -> None:
    with pytest.raises(StoryUntold, match="part of a longer word"):
        told(bare(tmp_path, "{say: ['{home}s for {fee}.']}"))
    with pytest.raises(StoryUntold, match="asked together"):
        told(bare(tmp_path, "{say: ['{home}.']}"))
    assert (
        tell_once(
            bare(tmp_path, "{say: ['{home}.']}"), (Asking(question=1),), random.Random(1), locale="en_US", taxonomy=shipped_taxonomy()
        )
        == "no wording tells fee, which is needed"
    )


def test_people_are_of_the_age_and_gender_that_the_story_needs(tmp_path: Path) -> None:
    text = STORY.replace("name.first_name, of: friend", "age.years, of: friend").replace("gender: female", "age: [30, 32], gender: male")
    story = story_of(tmp_path, text.replace("{friend.he} reads", "so {friend.he} reads"))
    ages = {span.value for one in told(story) for span in one.spans if span.fact == "mate"}
    assert ages == {"30", "31", "32"}
    assert not any(" she reads" in one.text for one in told(story))
    assert {span.subject for one in told(story) for span in one.spans} == {"self", "friend"}


@case_by_case(
    ("spelling", "number", "locale", "text"),
    [
        ("${n:,}", 1150, "en_US", "$1,150"),
        ("${n}", 1150, "en_US", "$1150"),
        ("${n}/hr", 17.5, "en_US", "$17.50/hr"),
        ("a {n} GPA", 3.2, "en_US", "a 3.2 GPA"),
        ("{n:,} kr", 11500, "sv_SE", "11 500 kr"),
        ("{n} points", 7.25, "pt_BR", "7,25 points"),
        ("{words} days", 41, "en_US", "forty-one days"),
        ("{words} days", 4100, "en_US", "4100 days"),
    ],
)
def test_numbers_are_spelled_as_people_of_the_place_do(spelling: str, number: float, locale: str, text: str) -> None:
    assert spelled_number(spelling, number, locale) == text


def test_mentions_are_whole_words_and_know_capitals() -> None:
    assert mentions("retired", "Retired, unretired, retired") == [(0, 7), (20, 27)]
    assert mentions("Will", "will Will") == [(5, 9)]
    assert mentions("12", "12,500 and 12") == [(11, 13)]


def _flat(text: str, value: str, kind: str = "location") -> ToldStory:
    start = text.index(value)
    span = ToldSpan(start=start, end=start + len(value), value=value, entity_type=kind, subtype="x", fact="f", subject="self")
    return ToldStory(story="s", text=text, spans=(span,), questions=(AskedQuestion(id="q", text="What's Up?", high=frozenset()),))


@pytest.mark.parametrize(
    ("habit", "text", "value", "kind", "after", "question"),
    [
        ("lower_case", "I'm in Dayton. Now.", "Dayton", "location", "i'm in dayton. now.", "what's up?"),
        ("lower_case", "My ID is AB-12. Now.", "AB-12", "code", "my id is AB-12. now.", "what's up?"),
        ("no_apostrophes", "I'm at Jo's. We'll see.", "Jo", "name", "Im at Jo's. We'll see.", "Whats Up?"),
        ("dots", "In Dayton. Dr. No left. So.", "Dayton", "location", "In Dayton... Dr. No left... So.", "What's Up?"),
        ("no_final_stop", "In Dayton. So.", "Dayton", "location", "In Dayton. So", "What's Up?"),
        ("double_spaces", "In Dayton. So? Yes.", "Dayton", "location", "In Dayton.  So?  Yes.", "What's Up?"),
        (
            "double_spaces",
            "Dr. Ro is in Dayton. At 5 p.m. we go.",
            "Dayton",
            "location",
            "Dr. Ro is in Dayton.  At 5 p.m. we go.",
            "What's Up?",
        ),
        ("dots", "John Q. Public, no. 5, Dayton. So.", "Dayton", "location", "John Q. Public, no. 5, Dayton... So.", "What's Up?"),
        ("fields_capital", "Town: Dayton\nSo: be it: no.", "Dayton", "location", "TOWN: Dayton\nSO: be it: no.", "What's Up?"),
        ("fields_dotted", "Town: Dayton\nJob: none", "Dayton", "location", f"Town {'.' * 20} Dayton\nJob {'.' * 21} none", "What's Up?"),
        ("fields_dashed", "Town: Dayton", "Dayton", "location", "Town - Dayton", "What's Up?"),
        ("fields_bare", "Town: Dayton", "Dayton", "location", "Town Dayton", "What's Up?"),
        ("fields_below", "Town: Dayton\nAt 10:30, they said.", "Dayton", "location", "Town\nDayton\nAt 10:30, they said.", "What's Up?"),
        ("fields_hash", "Policy no.: A-1\nFiled: no", "A-1", "code", "Policy #: A-1\nFiled: no", "What's Up?"),
        ("fields_hash", "Phone #: A-1\nGate (day) no.: 7", "A-1", "code", "Phone #: A-1\nGate (day) #: 7", "What's Up?"),
        ("fields_below", "Pt #: A-1\nPhone (day): no", "A-1", "code", "Pt #\nA-1\nPhone (day)\nno", "What's Up?"),
        ("fields_equal", "Policy no.: A-1\nPt # (old): no", "A-1", "code", "policy_no=A-1\npt_old=no", "What's Up?"),
        ("misspelling", "Definitely Dayton, definitely.", "Dayton", "location", "Definately Dayton, definately.", "What's Up?"),
    ],
)
def test_a_habit_is_kept_up_and_spans_move_with_it(
    monkeypatch: pytest.MonkeyPatch, habit: str, text: str, value: str, kind: str, after: str, question: str
) -> None:
    monkeypatch.setattr("piiloom.generation.composer.surfaces.habit_shares", lambda _: {habit: 100})
    one = with_habit(_flat(text, value, kind), "forum", random.Random(1), "en_US", taxonomy=shipped_taxonomy())
    assert (one.text, one.habit, one.questions[0].text) == (after, habit, question)
    assert one.text[one.spans[0].start : one.spans[0].end] == one.spans[0].value


_LABELS = {
    "record": [
        FieldLabels(field=("MRN", "Medical record no."), inline=("MRN", "medical record no.")),
        FieldLabels(field=("Chart", "Chart #"), inline=("chart", "chart #", "chart number")),
    ],
    "last_four": [
        FieldLabels(field=("SSN, last four", "SSN last 4"), inline=("SSN last 4", "last 4 of SSN")),
        FieldLabels(field=("Last four", "Last 4"), inline=("last four", "last 4")),
    ],
    "license": [FieldLabels(field=("License", "DL #"), inline=("license", "DL #"))],
    "ip": [FieldLabels(field=("IP", "Client IP"), inline=("IP", "client IP"))],
}


@case_by_case(
    ("subtype", "text", "others"),
    [
        # Only by one of its own group; what stands between label and value stays.
        ("record", "Hello\nMRN: 7-12\nBye", {"Hello\nMedical record no.: 7-12\nBye"}),
        ("record", "- Chart:7-12", {"- Chart #:7-12"}),
        ("record", "Seen (chart 7-12).", {"Seen (chart # 7-12).", "Seen (chart number 7-12)."}),
        ("record", "Seen (chart #7-12).", {"Seen (chart 7-12).", "Seen (chart number 7-12)."}),
        # Where a label can stand; after a possessive or article only a number.
        ("record", "See the file, MRN 7-12", {"See the file, medical record no. 7-12"}),
        ("record", "My chart # 7-12", {"My chart number 7-12"}),
        *[("record", text, set()) for text in ("I'm chart 7-12", "my chart 7-12", "an MRN 7-12", "(XMRN 7-12", "MRN = 7-12")],
        ("license", "Driver license: 7-12", set()),
        # No word twice.
        ("last_four", "SSN, last four: 7-12", {"SSN last 4: 7-12"}),
        ("last_four", "No SSN, last four: 7-12", {"No SSN, last 4: 7-12"}),
        ("last_four", "No SSN yet, SSN last 4: 7-12", set()),
        # The case of the story.
        ("record", "CHART: 7-12", {"CHART #: 7-12"}),
        ("record", "mrn: 7-12", {"medical record no.: 7-12"}),
        ("record", "It is there. MRN 7-12", {"It is there. Medical record no. 7-12"}),
        ("record", "Chart 7-12", {"Chart # 7-12", "Chart number 7-12"}),
        ("license", "License 7-12", {"DL # 7-12"}),
        ("ip", "session, ip 7-12", {"session, client ip 7-12"}),
        # The same label alike.
        ("record", "MRN: 7-12\nOld (mrn 7-12)", {"Medical record no.: 7-12\nOld (medical record no. 7-12)"}),
        # Unknown kinds.
        ("x", "MRN: 7-12", set()),
    ],
)
def test_labels_of_identifiers_vary_and_spans_move_with_them(
    monkeypatch: pytest.MonkeyPatch, subtype: str, text: str, others: set[str]
) -> None:
    monkeypatch.setattr("piiloom.generation.composer.surfaces.habit_shares", lambda _: {})
    monkeypatch.setattr("piiloom.generation.composer.surfaces.labels", lambda language: _LABELS if language == "en" else {})
    flat = _flat(text, "7-12", "code")
    places = [found.start() for found in re.finditer("7-12", text)]
    flat = replace(flat, spans=tuple(replace(flat.spans[0], subtype=subtype, start=at, end=at + 4) for at in places))
    made = [with_habit(flat, "form", random.Random(n), "en_US", shipped_taxonomy()) for n in range(60)]
    assert {one.text for one in made} == {text, *others}
    assert all(one.text[span.start : span.end] == "7-12" for one in made for span in one.spans)
    assert with_habit(flat, "form", random.Random(1), "pt_BR", shipped_taxonomy()) == flat


def test_a_habit_that_would_hide_a_name_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piiloom.generation.composer.surfaces.habit_shares", lambda _: {"lower_case": 100})
    kept = _flat("Will you ask Will. Now.", "Will")
    assert with_habit(kept, "forum", random.Random(1), "en_US", taxonomy=shipped_taxonomy()) == kept


def test_an_abbreviation_keeps_its_last_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piiloom.generation.composer.surfaces.habit_shares", lambda _: {"no_final_stop": 100})
    kept = _flat("In Dayton at 5 p.m.", "Dayton")
    assert with_habit(kept, "forum", random.Random(1), "en_US", taxonomy=shipped_taxonomy()) == kept


def test_habits_come_as_often_as_the_voice_has_them_and_can_be_off(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    assert {one.habit for one in told(story)} == {None}
    counted = Counter(one.habit for one in told(story, 1000, habits=True))
    assert 0.6 < counted[None] / 1000 < 0.95
    assert set(counted) - {None} <= set(habit_shares("forum"))
