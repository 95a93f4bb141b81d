"""What the ladder aligns, the exactness gate accepts: the two share one idea of a mention."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import AlignmentTarget, align, mark, strip_marks
from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, ExpectedValue
from piiloom.screening.screen import ExactnessGate
from tests.longer import examples

VALUES = [
    "Will",
    "asthma",
    "hip replacement",
    "$52,400",
    "5'7\"",
    "ex-husband",
    "café",
    "Dana",
    "Dana Whitlock",
    "34",
    "İzmir",
    "straße",
    "carpenter",
]
PIECES = [
    " ",
    ", ",
    " and will ",
    "’s ",
    "\r\n",
    "\u0301",
    "\u200d",
    "ual",
    "34.5",
    "O'",
    " Asthma! ",
    "DANA",
    " carpentr ",
    "5’7”",
    " hip\u00a0replacement ",
    "👧",
]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=4, unique=True),
    st.lists(
        st.tuples(st.sampled_from(PIECES), st.integers(0, 3), st.sampled_from([str, str.upper, str.title]), st.booleans()), max_size=8
    ),
)
def test_what_the_ladder_aligns_is_exact(values, parts):
    marked = ""
    for piece, number, altered, marks in parts:
        value = altered(values[number % len(values)])
        marked += piece + (mark(f"v{number % len(values)}", value) if marks else value)
    stripped = strip_marks(marked)
    alignment = align(stripped.text, stripped.mentions, [AlignmentTarget(value_id=f"v{i}", text=v) for i, v in enumerate(values)])
    assume(alignment.spans)
    located = {s.value_id for s in alignment.spans}
    spans = tuple(
        Span(id=f"s{i}", start=s.start, end=s.end, entity_type="health", value_id=s.value_id) for i, s in enumerate(alignment.spans)
    )
    expected = Expectations(
        pair=("health", "age"),
        values=tuple(ExpectedValue(id=f"v{i}", text=v, entity_type="health") for i, v in enumerate(values) if f"v{i}" in located),
    )
    assert ExactnessGate().check(Record(id="r", context=stripped.text, spans=spans), expected) is None
