"""``report.html``: what it shows, and that nothing of a hostile corpus is more than text in it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.report_page import visible_signs
from piiloom.surrogates.placeholders import Mapping, Survey
from piiloom.surrogates.placeholders.reading import kind_of_span
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings

HOSTILE = "<script>alert('x')</script> & <img src=x onerror=alert(1)> \u202edlrow [ZORB<b>LAX] {{ 7 * 7 }} "
ALLOWED = set("html head meta title style body main h1 h2 h3 dl div dt dd ul li p table thead tbody tr th td bdi span mark".split())


class Page(HTMLParser):
    """Collects the tags, the attributes and the words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def page_of(source: Path, out: Path, mapping: Mapping | None, chunk: int = 2**20, **settings: Any) -> str:
    factory = EngineFactory(settings=EngineSettings(seed=0), mapping=mapping)
    run_surrogates(SourceSettings(path=source, chunk_bytes=chunk, **settings), out, factory)
    return (out / "report.html").read_text("utf-8")


def surveyed(texts: list[str]) -> Mapping:
    survey = Survey()
    for text in texts:
        survey.add(text)
    return survey.mapping()


def test_everything_is_escaped_and_nothing_is_fetched(tmp_path: Path) -> None:
    texts = [f"[NAME] {HOSTILE}met <STUDENT> in [CITY] ({number})." for number in range(20)]
    source = tmp_path / "<b>in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    mapping = surveyed(texts)
    text = page_of(source, tmp_path / "out", mapping)
    page = Page(text)
    assert page.tags <= ALLOWED
    assert not any(name.startswith("on") or name in {"src", "href"} for name in page.attributes)
    assert "default-src &#39;none&#39;" in text
    assert "<script>alert('x')</script>" in page.words
    assert "[U+202E]dlrow" in page.words
    assert "{{ 7 * 7 }}" in page.words
    assert "<b>in.jsonl" in page.words
    assert "\u202e" not in text
    for part in (
        "What was found",
        "sure (0.90 and more)",
        "[CITY]",
        "Before and after",
        "What was left",
        "Balance",
        "What still looks personal",
    ):
        assert part in page.words
    assert page_of(source, tmp_path / "small", mapping, chunk=1) == text


def test_originals_are_not_shown(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "I am Edith.", "spans": [{"start": 5, "end": 10, "type": "name"}]}\n')
    text = page_of(source, tmp_path / "out", None, kind_of=kind_of_span, spans_field="spans")
    assert "Edith" not in text
    assert "‹name›" in text
    assert "given as spans" in text
    notes = tmp_path / "b.txt"
    notes.write_text("Seen: <<PATIENT:Edith Archer>> on <<DATE:4 May 2020>>.")
    text = page_of(notes, tmp_path / "notes", surveyed([notes.read_text()]))
    assert not any(word in text for word in ("Edith", "Archer", "4 May"))
    assert "&lt;&lt;PATIENT:…&gt;&gt;" in text


def test_an_empty_corpus_has_a_page(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.touch()
    assert "Nothing was replaced" in page_of(source, tmp_path / "out", Mapping())


@pytest.mark.parametrize(("text", "seen"), [("a\tb\nc", "a\tb\nc"), ("\x00\x1b", "[U+0000][U+001B]"), ("é\u200f", "é[U+200F]")])
def test_what_nobody_sees_is_told(text: str, seen: str) -> None:
    assert visible_signs(text) == seen
