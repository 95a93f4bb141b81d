"""What is drawn to be read: the same for the same seed, before and after, from corpora with tags and with spans."""

from __future__ import annotations

import pytest

from benchmarks.readings.corpora import DATA, corpus_documents
from benchmarks.surrogate_readings import Filled, counts_of, drawn_passages, drawn_places, filled_corpus, passage_text, place_lines
from piiloom.surrogates.documents import Document
from tests.surrogates.persons_filled import filled

TEXT = "Dear [NAME],\n" + "we write to you about the matter of last week. " * 4 + "Call [PHONE], or mail [EMAIL]. [FOO_BAR]\nYours, [NAME]"


def corpus() -> list[Filled]:
    return [Filled(Document(n, f"d{n}", TEXT, "memory"), done) for n, done in enumerate(filled(TEXT, count=6))]


def test_places_are_drawn_by_seed_and_shown_before_and_after() -> None:
    known = corpus()
    places = drawn_places(known, 1, 5)
    assert places == drawn_places(known, 1, 5) != drawn_places(known, 2, 5)
    assert len({(one.document.number, place.start) for one, place in places}) == 5
    for one, place in places:
        head, before, after = place_lines(one, place)
        assert head.startswith(f"{one.document.id} [{place.kind}")
        assert "⟦[" in before
        assert f"⟦{one.done.text[place.new_start : place.new_end]}⟧" in after
        assert "\n" not in before + after
        assert len(before) < 190
    assert len(drawn_places(known, 1, 500)) == 6 * 4


def test_passages_mark_each_surrogate_with_its_person() -> None:
    known = corpus()
    passages = drawn_passages(known, 1, 3)
    assert [one.document.id for one, _, _ in passages] == [one.document.id for one, _, _ in drawn_passages(known, 1, 3)]
    assert len({one.document.id for one, _, _ in passages}) == 3
    shown = passage_text(*passages[0])
    assert shown.count("⟦") == 4
    assert "|p1⟧" in shown
    assert "[FOO_BAR]" in shown


def test_counts_name_what_is_unknown() -> None:
    counts = counts_of(corpus())
    assert counts.startswith("6 documents, 30 found, 24 filled (person 12, ")
    assert counts.endswith("6 unknown: '[FOO_BAR]' 6")


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared data")
def test_tags_that_bear_originals_are_read_as_spans() -> None:
    documents, locale = corpus_documents("obi_spans")
    assert locale == "en_US"
    assert [len(one.mentions or ()) for one in documents] == [16, 50, 0, 12]
    assert not any("<<" in one.text for one in documents)
    for document in documents:
        for mention in document.mentions or ():
            assert document.text[mention.start : mention.end] == mention.original


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared data")
@pytest.mark.parametrize("name", ["presidio_masked", "presidio_research", "obi_ehr_notes"])
def test_a_corpus_is_filled_as_by_the_command(name: str) -> None:
    assert "filled" in counts_of(filled_corpus(name))
