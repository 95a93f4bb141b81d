"""Identifiers in the text that no span owns up to, and ordinary prose that is none."""

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, UnlistedGate
from piiloom.screening.identifiers import find_identifiers
from tests.longer import case_by_case

EXPECTED = Expectations(pair=("health", "occupation"))
GATE = UnlistedGate()

IDENTIFIERS = [
    ("email", "dana.whitlock@mail.example.org"),
    ("email", "d_w+84@example.com"),
    ("url", "https://forum.example/thread?id=4"),
    ("url", "www.hartwell.example/jobs"),
    ("url", "openpantry.org"),
    ("card", "4111 1111 1111 1111"),
    ("card", "4111111111111111"),
    ("card", "3782-822463-10005"),
    ("card", "4111-1111-1111-1112"),
    ("iban", "GB82 WEST 1234 5698 7654 32"),
    ("iban", "DE89370400440532013000"),
    ("ssn", "987-65-4320"),
    ("ssn", "987 65 4320"),
    ("ssn", "888-12-3456"),
    ("ip", "192.168.10.4"),
    ("ip", "2001:db8::8a2e:370:7334"),
    ("phone", "(202) 555-0142"),
    ("phone", "202-555-0142"),
    ("phone", "+1 202 555 0142"),
    ("phone", "555-0142"),
    ("phone", "+44 7700 900123"),
    ("phone", "+44 (0)20 7946 0018"),
    ("phone", "2025550142"),
]

PROSE = [
    "I left at 7:45 pm, or 19:45, and it was 10:20:30 on the clock",
    "I make $52,400 and owe $14,300.50 and €1.234.567,89",
    "I'm 5'7\" and 182 lbs, 170 cm, born March 14, 2019 or 2019-03-14 or 3/14/2019 or 14.03.2019",
    "from 2012-2019, in 1990 to 2020, the years 2012 2013 2014 2015 2016 2017",
    "ticket BK-40917C, flight UA 1234, room 12-345, page 100-200, size 32-34",
    "version 1.2.3.4.5 of the app, chapter 3.2.1, score 21-19 21-17",
    "12345 people, 1,000,000 hits, 3.14159265 and 0.1234567",
    "the pitch was 10 to 1, e.g. mine; i.e. not yours... and so on.I think",
    "it cost 1 200 000 dollars, 10 000 000 steps",
    "email me @ home, call 911 or dial 0, 24/7, 9-5",
    "zip 45402-1234 and 90210, 418 Maple Street",
    "credit score 612, age 34, 18 months, 50-60 hours, 1-2-3",
    "I use Node.js and ASP.NET at Booking.com daily",
    "REF AB12 something, so tired.in the end add::bed is code",
]  # fmt: skip


@case_by_case(("kind", "value"), IDENTIFIERS)
def test_identifiers_outside_spans_are_refused(kind, value):
    verdict = GATE.check(Record(id="r", context=f"Well, {value}, that is it."), EXPECTED)
    assert verdict is not None
    assert verdict.code == f"unlisted.{kind}"
    assert verdict.code in GATE.codes
    assert value not in verdict.detail


@case_by_case(("kind", "value"), IDENTIFIERS)
def test_identifiers_that_are_spans_pass(kind, value):
    span = Span(id="s", start=6, end=6 + len(value), entity_type="code")
    assert GATE.check(Record(id="r", context=f"Well, {value}, that is it.", spans=(span,)), EXPECTED) is None


@case_by_case(("kind", "value"), IDENTIFIERS)
def test_a_span_that_leaves_a_piece_out_is_refused(kind, value):
    span = Span(id="s", start=6, end=6 + len(value) - 2, entity_type="code")
    assert GATE.check(Record(id="r", context=f"Well, {value}, that is it.", spans=(span,)), EXPECTED) is not None


@case_by_case("value", ["support@hartwell.example", "no-reply@mail.example.org", "1-800-555-0142", "(888) 555-0161", "+1 877 555 0199"])
def test_mailboxes_of_offices_and_toll_free_numbers_are_public(value):
    assert GATE.check(Record(id="r", context=f"Well, {value}, that is it."), EXPECTED) is None


@case_by_case("text", PROSE)
def test_ordinary_prose_holds_none(text):
    assert list(find_identifiers(text, "US")) == []


@pytest.mark.parametrize(
    ("region", "number"),
    [("GB", "07700 900123"), ("GB", "020 7946 0018"), ("AU", "0491 570 156"), ("IN", "98765 43210"), ("US", "202 555 0142")],
)
def test_national_numbers_need_their_region(region, number):
    assert [kind for kind, _ in find_identifiers(f"call {number} now", region)] == ["phone"]


def test_an_identifier_in_the_question_is_refused():
    verdict = GATE.check(Record(id="r", context="Nothing here.", question="Do I write to a@b.example?"), EXPECTED)
    assert verdict is not None
    assert "question" in verdict.detail


def test_neighbouring_spans_cover_together():
    spans = (Span(id="a", start=5, end=8, entity_type="code"), Span(id="b", start=9, end=17, entity_type="code"))
    assert GATE.check(Record(id="r", context="Call 202-555-0142 now", spans=spans), EXPECTED) is None
