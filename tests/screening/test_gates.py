"""The gates that need nothing but the record: exactness, presence, length, duplicates."""

import pytest

from piiloom.corpus.alignment import AlignmentTarget, align, strip_marks
from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, ExpectedValue, Gate, MemoryGate, QuestionLeaksGate, RefusalsGate, UnlistedGate
from piiloom.screening.language import LanguageGate
from piiloom.screening.screen import DuplicatesGate, ExactnessGate, LengthGate, PresenceGate
from tests.longer import case_by_case

GATES = [
    ExactnessGate(),
    PresenceGate(),
    LengthGate(),
    QuestionLeaksGate({}),
    RefusalsGate(),
    UnlistedGate(),
    LanguageGate(),
    DuplicatesGate(),
]
NURSE = ExpectedValue(id="v1", text="nurse", entity_type="occupation", relevance="high")
ASTHMA = ExpectedValue(id="v2", text="asthma", entity_type="health", relevance="high")
EXPECTED = Expectations(pair=("occupation", "health"), values=(NURSE, ASTHMA), min_words=3, max_words=12)


def record_of(marked, values=(NURSE, ASTHMA), *, record_id="r1", question="Can I go back up?"):
    """A record whose spans the ladder found."""
    stripped = strip_marks(marked)
    by_id = {v.id: v for v in values}
    alignment = align(stripped.text, stripped.mentions, [AlignmentTarget(value_id=v.id, text=v.text) for v in values])
    spans = tuple(
        Span(
            id=f"s{i}",
            start=s.start,
            end=s.end,
            entity_type=by_id[s.value_id].entity_type,
            relevance=by_id[s.value_id].relevance,
            value_id=s.value_id,
        )
        for i, s in enumerate(alignment.spans)
    )
    return Record(id=record_id, context=stripped.text, question=question, spans=spans)


def with_spans(context, *spans):
    return Record(id="r1", context=context, spans=tuple(Span(id=f"s{i}", **span) for i, span in enumerate(spans)))


def code_of(gate, record, expected=EXPECTED):
    verdict = gate.check(record, expected)
    assert verdict is None or verdict.code in gate.codes
    return verdict and verdict.code


@pytest.mark.parametrize("gate", GATES, ids=lambda g: g.name)
def test_gates_explain_their_codes_under_their_name(gate):
    assert isinstance(gate, Gate)
    assert gate.codes
    assert all(code.startswith(f"{gate.name}.") and explanation for code, explanation in gate.codes.items())
    assert isinstance(gate, MemoryGate) == (gate.name == "duplicate")


def test_an_aligned_record_is_exact():
    assert code_of(ExactnessGate(), record_of("As a [[v1|nurse]] with [[v2|asthma]]. Asthma is mean, says the nurse's list.")) is None


def test_a_repaired_spelling_is_still_the_value():
    assert code_of(ExactnessGate(), record_of("As a nurse with astma.")) is None


def span(start, end, value_id="v2", entity_type="health", relevance="high"):
    return {"start": start, "end": end, "value_id": value_id, "entity_type": entity_type, "relevance": relevance}


@case_by_case(
    ("spans", "code"),
    [
        ([span(5, 10, "v1", "occupation"), span(16, 22)], None),
        ([span(5, 11, "v1", "occupation"), span(16, 22)], "exactness.edges"),
        ([span(5, 9, "v1", "occupation"), span(16, 22)], "exactness.edges"),
        ([span(5, 10, "v1", "occupation"), span(16, 22, "v7")], "exactness.unexpected_span"),
        ([span(5, 10, "v1", "occupation"), span(16, 22, None)], "exactness.unexpected_span"),
        ([span(5, 10, "v1", "occupation"), span(16, 22, relevance="low")], "exactness.label"),
        ([span(5, 10, "v1", "health"), span(16, 22)], "exactness.label"),
        ([span(5, 10, "v1", "occupation"), span(11, 15)], "exactness.changed_value"),
        ([span(5, 10, "v1", "occupation")], "exactness.missing_value"),
        ([], "exactness.missing_value"),
    ],
)
def test_spans_must_be_their_values(spans, code):
    assert code_of(ExactnessGate(), with_spans("As a nurse with asthma.", *spans)) == code


@pytest.mark.parametrize(
    ("context", "code"),
    [
        ("As a nurse with asthma. Asthma!", "exactness.unmarked_mention"),
        ("As a nurse with asthma, one nurse.", "exactness.unmarked_mention"),
        ("As a nurse with asthma, asthmatic nurses.", None),
    ],
)
def test_every_mention_must_be_a_span(context, code):
    assert code_of(ExactnessGate(), with_spans(context, span(5, 10, "v1", "occupation"), span(16, 22))) == code


def test_a_mention_inside_a_longer_value_is_part_of_it():
    dana = ExpectedValue(id="v1", text="Dana", entity_type="name", relevance="low")
    full = ExpectedValue(id="v2", text="Dana Whitlock", entity_type="name", relevance="low")
    expected = Expectations(pair=("occupation", "health"), values=(dana, full))
    assert code_of(ExactnessGate(), record_of("Dana Whitlock is Dana.", (dana, full)), expected) is None


def test_presence_wants_both_types_high():
    low = ExpectedValue(id="v2", text="asthma", entity_type="health", relevance="low")
    assert code_of(PresenceGate(), record_of("A nurse with asthma.")) is None
    assert code_of(PresenceGate(), record_of("A nurse with asthma.", (NURSE, low))) == "presence.no_high_span"
    narrowed = Expectations(pair=("occupation", "health"), high_types=("occupation",))
    assert code_of(PresenceGate(), record_of("A nurse with asthma.", (NURSE, low)), narrowed) is None


@pytest.mark.parametrize(("words", "code"), [(2, "length.short"), (3, None), (12, None), (13, "length.long")])
def test_length_counts_words(words, code):
    assert code_of(LengthGate(), Record(id="r", context="don't " * words)) == code


def test_length_may_be_open_ended():
    assert code_of(LengthGate(), Record(id="r", context="w " * 5000), Expectations(pair=("a", "b"))) is None


@case_by_case(
    ("pair", "high_types", "code"),
    [
        (("occupation", "health"), None, None),
        (("occupation", "health"), ("occupation", "health"), None),
        (("occupation", "belief"), None, "presence.no_high_span"),
        (("occupation", "belief"), ("occupation", "health"), None),
        (("occupation", "health"), ("occupation", "health", "age"), "presence.no_high_span"),
        (("age", "belief"), (), None),
    ],
)
def test_presence_wants_what_was_planned_or_else_the_pair(pair, high_types, code):
    expected = Expectations(pair=pair, high_types=high_types)
    assert code_of(PresenceGate(), record_of("A nurse with asthma."), expected) == code


def test_a_text_that_discloses_nothing_may_pass():
    plain = Record(id="r", context="My van broke down.", question="Why?")
    assert code_of(PresenceGate(), plain, Expectations(pair=("age", "belief"), high_types=())) is None
    assert code_of(PresenceGate(), plain, Expectations(pair=("age", "belief"))) == "presence.no_high_span"


LONG = "I froze halfway up a swaying mast last Tuesday and now my supervisor demands proof that I am safe to climb again"
ASKED = "Which papers would they need to see before I may go back up there, and who is to sign them for me?"


def numbered(*contexts, questions=None):
    asked = questions or [None] * len(contexts)
    return [Record(id=f"r{i}", context=c, question=q) for i, (c, q) in enumerate(zip(contexts, asked, strict=True))]


def test_duplicates_are_found_in_order():
    gate = DuplicatesGate()
    records = numbered(LONG, LONG, LONG + " today", LONG.upper() + "!", "something else entirely here today")
    assert [code_of(gate, r) for r in records] == [None, "duplicate.near", "duplicate.near", "duplicate.near", None]
    assert "r0" in gate.check(records[2], EXPECTED).detail
    assert code_of(gate, records[0]) is None  # its own duplicate it is not


def test_questions_that_repeat_are_found_whatever_stands_above_them():
    gate = DuplicatesGate()
    questions = [ASKED, ASKED, f"So {ASKED}", "And what now?", None, None, "And what now?", "And what then?"]
    contexts = [f"Context number {word} is its own." for word in "one two three four five six seven eight".split()]
    records = numbered(*contexts, questions=questions)
    near = "duplicate.question"
    assert [code_of(gate, r) for r in records] == [None, near, near, None, None, None, near, None]
    assert gate.check(records[1], EXPECTED).detail == "of record r0"


def test_a_refused_record_is_not_remembered_by_half():
    gate = DuplicatesGate()
    other = "Would anybody here know which of the two offices decides it in the end?"
    refused = Record(id="r1", context=LONG, question=other)
    assert code_of(gate, Record(id="r0", context=LONG, question=ASKED)) is None
    assert code_of(gate, refused) == "duplicate.near"
    # Its question was never asked, so another may ask it.
    assert code_of(gate, Record(id="r2", context="Quite another matter.", question=other)) is None


@pytest.mark.parametrize(("threshold", "code"), [(0.5, "duplicate.near"), (1.0, None)])
def test_how_near_is_too_near_can_be_chosen(threshold, code):
    gate = DuplicatesGate(threshold=threshold)
    records = numbered(LONG, f"{LONG} today")
    assert [code_of(gate, r) for r in records] == [None, code]


def test_primed_records_are_remembered():
    gate = DuplicatesGate()
    gate.prime(Record(id="old", context=LONG, question=ASKED))
    gate.prime(Record(id="old", context=LONG, question=ASKED))
    assert code_of(gate, Record(id="old", context=LONG, question=ASKED)) is None
    assert code_of(gate, Record(id="new", context=LONG)) == "duplicate.near"
    assert code_of(gate, Record(id="new", context=f"Well, {LONG}")) == "duplicate.near"
    assert code_of(gate, Record(id="new", context="Another matter.", question=ASKED)) == "duplicate.question"
    assert code_of(gate, Record(id="new", context="Another matter.", question="Why?")) is None
