"""Sentences and pieces: they cover the text exactly, and cut nothing that belongs together."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.detector import REACH, Sentences, cut_text
from tests.longer import case_by_case

TEXTS = st.text(st.sampled_from("ab Ż.!?…。؟।\n\t\u0301漢字5 '\"»"), max_size=120)


@st.composite
def texts_with_ranges(draw):
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    ranges = draw(st.lists(st.tuples(places, places).map(sorted).map(tuple).filter(lambda r: r[0] < r[1]), max_size=5))
    return text, ranges, draw(st.integers(1, 40))


@given(texts_with_ranges())
def test_pieces_cover_the_text_and_cut_no_match(case):
    text, whole, limit = case
    for within in ((0, len(text)), (min(3, len(text)), len(text) * 2 // 3)):
        ends = Sentences(text).ends
        inside = [(a, b) for a, b in whole if within[0] <= a and b <= within[1]]
        pieces = cut_text(text, ends, inside, limit, within)
        assert "".join(text[a:b] for a, b in pieces) == text[slice(*within)]
        assert not any(start < cut < end for _, cut in pieces[:-1] for start, end in inside)
    pieces = cut_text(text, Sentences(text).ends, whole, limit)
    assert "".join(text[a:b] for a, b in pieces) == text
    assert all(a < b for a, b in pieces)
    assert [b for _, b in pieces[:-1]] == [a for a, _ in pieces[1:]]
    cuts = {b for _, b in pieces[:-1]}
    assert not any(start < cut < end for cut in cuts for start, end in whole)
    if not whole:
        assert all(b - a <= limit for a, b in pieces)


@given(TEXTS, st.data())
def test_a_sentence_is_around_every_place(text, data):
    sentences = Sentences(text)
    assert sentences.ends == sorted(set(sentences.ends))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    narrow, wide = sentences.around(start, end), sentences.around(start, end, beside=1)
    assert 0 <= wide[0] <= narrow[0] <= start <= end <= narrow[1] <= wide[1] <= len(text)


@case_by_case(
    ("text", "sentences"),
    [
        ("Mam 34 lata. Mieszkam tu! A ty? ok", ["Mam 34 lata. ", "Mieszkam tu! ", "A ty? ok"]),
        ("Dr. Nowak, ul. Długa 5. Tel. 600", ["Dr. Nowak, ul. Długa 5. ", "Tel. 600"]),
        ("Sr. J. Silva mora aqui. Fim", ["Sr. J. Silva mora aqui. ", "Fim"]),
        ("姓名:张伟。年龄:34岁。电话", ["姓名:张伟。", "年龄:34岁。", "电话"]),
        ("उम्र 34 है। नाम राम", ["उम्र 34 है। ", "नाम राम"]),
        ("كم عمرك؟ عمري 34", ["كم عمرك؟ ", "عمري 34"]),
        ("Name: A\n\n  Age: 3", ["Name: A\n\n  ", "Age: 3"]),
        ("It cost 3.50 at 5 p.m. on 3. May", ["It cost 3.50 at 5 p.m. on 3. ", "May"]),
    ],
)
def test_where_sentences_end(text, sentences):
    ends = [0, *Sentences(text).ends, len(text)]
    assert [text[a:b] for a, b in itertools.pairwise(ends)] == sentences


def test_a_long_sentence_is_cut_between_words_and_an_endless_word_anywhere():
    text = "word " * 30 + "x" * 50
    assert [text[a:b] for a, b in cut_text(text, [], [], 40)][:2] == ["word " * 8, "word " * 8]
    assert cut_text("e\u0301" * 30, [], [], 11)[0] == (0, 10)
    assert cut_text("7" * 50, [], [(0, 45)], 20) == [(0, 45), (45, 50)]


def test_what_is_shown_around_a_value_is_limited():
    text = "a " * 2000
    begin, end = Sentences(text).around(2000, 2001)
    assert (begin, end) == (2000 - REACH, 2001 + REACH)
