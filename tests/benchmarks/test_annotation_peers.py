"""The material of the comparison with other tools: each edit is one that can be made, and a prefix moves everything by its length."""

from __future__ import annotations

import pytest

from piiloom.corpus.record import Record, Span

pytest.importorskip("playwright", reason="playwright is not installed")
from benchmarks.annotation.desk import Effort, seen_after, seen_of
from benchmarks.annotation.material import PREFIXES, Story, hardened, stories

TEXT = "I am Ada Byron, a 36 years old baker from London who met Grace in Kent and wrote about engines for a long while."
VALUES = (("Ada Byron", "name", "low"), ("36", "age", "high"), ("London", "location", "low"), ("Kent", "location", "high"))


def made() -> Story:
    spans = [
        Span(id=f"s{i}", start=TEXT.index(v), end=TEXT.index(v) + len(v), entity_type=t, relevance=r) for i, (v, t, r) in enumerate(VALUES)
    ]
    [story] = stories([Record(id="a", context=TEXT, spans=tuple(spans)), Record(id="b", context="Nothing.")], 3)
    return story


def test_each_edit_has_a_span_of_its_own() -> None:
    story = made()
    edits = {change.kind: tuple(mark and story.text(mark) for mark in (change.before, change.after)) for change in story.changes}
    assert edits == {
        "flip": ("Ada Byron", "Ada Byron"),
        "type": ("London", "London"),
        "end": ("36", "36 years"),
        "add": (None, "engines"),
        "remove": ("Kent", None),
    }
    assert [story.text(mark) for mark in story.wanted][:3] == ["Ada Byron", "36 years", "London"]
    assert all(one.end <= other.start for one, other in zip(story.wanted, story.wanted[1:], strict=False))


@pytest.mark.parametrize("hard", PREFIXES)
def test_a_prefix_moves_everything(hard: str) -> None:
    story = made()
    moved = hardened(story, hard)
    assert [moved.text(mark) for mark in moved.wanted] == [story.text(mark) for mark in story.wanted]
    assert moved.context == PREFIXES[hard] + story.context


def test_what_a_page_shows_after_an_edit() -> None:
    story = made()
    shown = [seen_of(story, mark) for mark in story.marks]
    for change in story.changes:
        shown = seen_after(shown, story, change)
    assert shown == sorted((seen_of(story, mark) for mark in story.wanted), key=str)
    with pytest.raises(ValueError, match="not in list"):
        seen_after([], story, story.changes[0])


def test_efforts_are_told_in_words() -> None:
    assert str(Effort(keys=1, clicks=2)) == "1 key + 2 clicks"
