"""Long texts are cut between words, at ends of sentences where there are any, and never within what is known to belong together."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.detection.marking.cutting import Cutting

WORDS = st.sampled_from(["Anna", "Smith", "34", "555 0199 8", "never", "a", "王伟", "of", "the", "e\u0301té", "🐢"])
ENDS = st.sampled_from([" ", " ", " ", ", ", ". ", "! ", ".\n\n", "。"])


@st.composite
def texts(draw):
    """A text, and ranges of one to four words of it that belong together."""
    words = draw(st.lists(st.tuples(WORDS, ENDS), min_size=1, max_size=60))
    text, starts = "", []
    for word, end in words:
        starts.append((len(text), len(text) + len(word)))
        text += word + end
    firsts = draw(st.lists(st.integers(0, len(words) - 1), max_size=8))
    whole = [(starts[n][0], starts[min(n + draw(st.integers(0, 3)), len(words) - 1)][1]) for n in firsts]
    return text, whole, starts


@given(texts(), st.integers(8, 90))
@settings(max_examples=40, deadline=None)
def test_no_cut_parts_a_word_or_what_belongs_together(example, limit):
    text, whole, words = example
    pieces = Cutting(text, "en_US", lambda _, __: whole).pieces((0, len(text)), limit)
    covered = {place for start, end in pieces for place in range(start, end)}
    assert all(text[place].isspace() for place in range(len(text)) if place not in covered)
    assert all(one[1] <= other[0] for one, other in pairwise(pieces))
    short = [one for one in words if " " not in text[slice(*one)]]
    for start, end in (*whole, *(one for one in short if limit > 20)):
        assert any(a <= start and end <= b for a, b in pieces)
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in pieces)


def test_halves_of_a_piece_are_cut_alike():
    text = "One is here. Two are there now. Three went on and on."
    cutting = Cutting(text, "en_US", lambda _, __: [(27, 37)])
    told = [text[slice(*one)] for one in cutting.pieces((13, len(text)), 20)]
    assert told == ["Two are there", "now. Three went on", "and on."]
