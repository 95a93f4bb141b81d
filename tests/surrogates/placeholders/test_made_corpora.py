"""Corpora in the formats of public ones: nearly everything is filled with the right kind, and the rest is reported."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.surrogates.placeholders.made_corpora import REPORTED, made_corpus

_LEAST = 300
_SHARE = 0.99


@pytest.mark.long
@pytest.mark.parametrize("name", ["asap", "mimic", "swiss", "swiss_french", "french", "spanish", "cfpb"])
def test_a_made_corpus_is_filled_with_the_right_kinds(name: str) -> None:
    texts = made_corpus(name)
    finder = Finder(auto_mapping([text for text, _ in texts]))
    wrong: list[tuple[str, str, str]] = []
    total = 0
    for text, kinds in texts:
        found = finder.find(text)
        told = {(m.start, m.end): m.kind for m in found.mentions}
        listed = {(one.start, one.end) for one in found.unknown} | set(found.left)
        total += len(kinds)
        for place, kind in kinds.items():
            if told.get(place, REPORTED) != kind:
                wrong.append((text[max(0, place[0] - 30) : place[1] + 20], kind, told.get(place, "missed")))
            assert place in told or place in listed, f"silently missed: {text[place[0] : place[1]]!r}"
        assert not [text[start:end] for start, end in told if (start, end) not in kinds], "filled what is no placeholder"
    assert total >= _LEAST
    assert len(wrong) <= (1 - _SHARE) * total, sorted(set(wrong))[:20]
