"""Alignment over arbitrary Unicode: offsets exact, nothing cut, nothing missed, nothing invented."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.alignment import MARK, AlignmentTarget, add_marks, align, locate_reply, mark, strip_marks
from piiloom.corpus.mention_search import is_same_value
from piiloom.corpus.normalising import extends
from tests.longer import examples

VALUES = [
    "Ann",
    "asthma",
    "hip replacement",
    "$52,400",
    "5'7\"",
    "C++",
    "ex-husband",
    "café",
    "cafe\u0301 owner",
    "straße",
    "İzmir",
    "ﬁnance clerk",
    "34",
    "7:45 pm",
    "BK-40917C",
    "Dana",
    "Dana Whitlock",
    "👩‍👩‍👧",
    "דנה",
    "green eyes",
    "St. Brendan",
    "air traffic controller",
]
GLUE = [
    " ",
    "\u00a0",
    "\r\n",
    "\n",
    ", ",
    ". ",
    "-",
    "'s ",
    "’s ",
    "ual",
    "\u0301",
    "\u200d",
    "\u200b",
    "👧",
    "🏽",
    "1",
    ".5",
    "_",
    "“",
    "”",
    "—",
    "ß",
    "אב",
    "\ufe0f",
    " and ",
    " the ",
    "O'",
    "'",
    "(",
    ")",
    "\u202e",
]

values = st.lists(st.one_of(st.sampled_from(VALUES), st.text(min_size=1, max_size=6)), min_size=1, max_size=4, unique=True)


@st.composite
def cases(draw):
    """Values, and a text of (sometimes marked, sometimes altered) values and glue."""
    chosen = draw(values)
    pieces = []
    for _ in range(draw(st.integers(0, 9))):
        kind = draw(st.integers(0, 4))
        number = draw(st.integers(0, len(chosen) - 1))
        altered = draw(
            st.sampled_from(
                [
                    str,
                    str.upper,
                    str.casefold,
                    lambda v: unicodedata.normalize("NFKD", v),
                    lambda v: v.replace(" ", "\u00a0"),
                    lambda v: v + "x",
                ]
            )
        )
        if kind == 0:
            pieces.append(chosen[number])
        elif kind == 1:
            pieces.append(mark(f"v{number}", altered(chosen[number])))
        elif kind == 2:
            pieces.append(altered(chosen[number]))
        else:
            pieces.append(draw(st.one_of(st.sampled_from(GLUE), st.text(max_size=3))))
    return "".join(pieces), [AlignmentTarget(value_id=f"v{i}", text=v) for i, v in enumerate(chosen)]


def bare_whole_words(text, value):
    """The plain pattern of the design: an oracle that knows nothing of graphemes, apostrophes or decimals."""
    return [m.span() for m in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text)]


@settings(max_examples=examples(300), deadline=None)
@given(cases())
def test_spans_are_exact_disjoint_and_account_for_every_value(case):
    marked, targets = case
    stripped = strip_marks(marked)
    text = stripped.text
    alignment = align(text, stripped.mentions, targets)
    by_id = {t.value_id: t.text for t in targets}
    position = 0
    for span in alignment.spans:
        surface = text[span.start : span.end]
        assert position <= span.start < span.end <= len(text)
        position = span.end
        assert surface == surface.strip()
        assert is_same_value(surface, by_id[span.value_id].strip())
        assert span.rung != "fuzzy" or not any(c.isnumeric() for c in by_id[span.value_id])
        # never inside a longer word, never in the middle of a grapheme
        assert not re.match(r"\w", text[span.end : span.end + 1])
        assert span.start == 0 or not re.match(r"\w", text[span.start - 1])
        assert span.end == len(text) or not extends(text[span.end])
        assert span.start == 0 or not extends(text[span.start])
    assert {s.value_id for s in alignment.spans} | {u.value_id for u in alignment.unresolved} == set(by_id)
    assert not {s.value_id for s in alignment.spans} & {u.value_id for u in alignment.unresolved}


@settings(max_examples=examples(300), deadline=None)
@given(cases())
def test_no_mention_of_a_found_value_is_left_without_a_span(case):
    marked, targets = case
    stripped = strip_marks(marked)
    text = stripped.text
    alignment = align(text, stripped.mentions, targets)
    found = {s.value_id for s in alignment.spans}
    for target in targets:
        value = target.text.strip()
        if target.value_id not in found or not re.fullmatch(r"\w(?:[\w ]*\w)?", value):
            continue
        for start, end in bare_whole_words(text, value):
            touches = any(s.start < end and start < s.end for s in alignment.spans)
            # what the bare pattern cannot see: marks, joiners, apostrophes and decimals beside the value
            beside = text[max(start - 2, 0) : start] + text[end : end + 2]
            assert touches or any(extends(c) or unicodedata.category(c) == "Cf" or c in "'’´ʼ.,:\u0301" for c in beside)


@settings(max_examples=examples(200), deadline=None)
@given(cases())
def test_marking_what_was_found_gives_the_same_spans_again(case):
    marked, targets = case
    stripped = strip_marks(marked)
    first = align(stripped.text, stripped.mentions, targets)
    found = {s.value_id for s in first.spans}
    kept = [t for t in targets if t.value_id in found]
    second = align(stripped.text, stripped.mentions, kept)
    assert [(s.value_id, s.start, s.end) for s in second.spans] == [(s.value_id, s.start, s.end) for s in first.spans]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["so ", "and then ", "\u00a0— ", "\r\n", "(", "‘", "🙂 ", "אב "]), st.integers(0, len(VALUES) - 1)),
        min_size=1,
        max_size=6,
    )
)
def test_placed_values_are_found_where_they_were_placed(parts):
    text, places = "", []
    for glue, number in parts:
        text += glue
        places.append((len(text), len(text) + len(VALUES[number]), number))
        text += VALUES[number] + ", "
    numbers = dict.fromkeys(n for _, _, n in places)
    spans = align(text, (), [AlignmentTarget(value_id=f"v{n}", text=VALUES[n]) for n in numbers]).spans
    got = {(s.start, s.end) for s in spans}
    assert {(a, b) for a, b, _ in places} <= got
    assert all(any(a <= s and e <= b for a, b, _ in places) for s, e in got)


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=8))
def test_an_answer_located_is_a_substring(text, reply):
    found = locate_reply(text, reply)
    if found is not None:
        assert text[found[0] : found[1]] in reply


def test_marks_survive_the_round_trip():
    stripped = strip_marks("As a [[v2|nurse]] with [[v1|asthma]].")
    assert MARK.findall(add_marks(stripped)) == [("v2", "nurse"), ("v1", "asthma")]
