"""The dataset page as text: nothing of the corpus is markup, nothing is fetched, and what it shows are the figures."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import sha256

import pytest

from piiloom.corpus.record import Record
from piiloom.evaluation.report.figures import ReportFigures, measure
from piiloom.evaluation.report.page import dataset_page
from piiloom.evaluation.report.page_figures import content_charts, guess_chart
from piiloom.evaluation.report.sources import SHOWN, Corpus, ReportSource, draw_samples
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.html_page import Page
from tests.evaluation.page_corpora import ATTACK, WIDE, page_corpus, twins
from tests.evaluation.report_records import marked, varied_figures

CORPUS = page_corpus()


@cache
def figures_of_all() -> ReportFigures:
    return measure(CORPUS.splits, taxonomy=shipped_taxonomy())


@cache
def html() -> str:
    return dataset_page(CORPUS, figures_of_all())


@cache
def parsed() -> Page:
    return Page(html())


def of_records(records: list[Record]) -> Page:
    corpus = Corpus(source=ReportSource(file="some.jsonl"), splits={"all": records})
    return Page(dataset_page(corpus, measure(corpus.splits, taxonomy=shipped_taxonomy())))


def marks(page: Page) -> list[str]:
    """The marked values, without their labels, in order."""
    found = [(path, data) for path, data in page.texts if any(part.startswith("mark.") for part in path)]
    return [data for path, data in found if not any(part.startswith("span.") for part in path)]


def test_nothing_of_the_corpus_is_markup():
    tags = Counter(tag for tag, _ in parsed().tags)
    assert (tags["script"], tags["img"], tags["style"], tags["title"] > 1) == (2, 0, 1, True)  # titles: those in the charts
    assert not [name for _, attributes in parsed().tags for name in attributes if name.startswith("on")]
    shown = parsed().within("#records")
    assert shown.count(ATTACK) >= 10  # text, question, type, subtype, subject, plan …
    assert ATTACK in parsed().within("h1.")
    assert "<!--" not in html()


def test_the_page_fetches_nothing_and_runs_only_its_own_script():
    links = {attributes["href"] for _, attributes in parsed().tags if "href" in attributes}
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= {attributes.get("id") for _, attributes in parsed().tags}
    assert not [attributes for _, attributes in parsed().tags if attributes.keys() & {"src", "srcset", "style", "action", "data"}]
    assert not re.search(r"https?:|url\(|@import", html())
    policy = next(attributes["content"] for _, attributes in parsed().tags if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        content = re.findall(rf"<{name}>(.*?)</{name}>", html(), re.DOTALL)
        assert len(content) == 1
        assert f"{name}-src 'sha256-{b64encode(sha256(content[0].encode()).digest()).decode()}'" in policy


def test_equal_input_gives_equal_bytes_in_whatever_order_records_come():
    again = Corpus(
        source=CORPUS.source, splits={name: records[::-1] for name, records in CORPUS.splits.items()}, background=CORPUS.background
    )
    assert dataset_page(CORPUS, figures_of_all()) == html()
    assert dataset_page(again, figures_of_all()) == html()
    assert len(draw_samples(CORPUS.splits, seed=7).shown_ids()) == 18
    assert draw_samples(CORPUS.splits, seed=8).shown != draw_samples(CORPUS.splits, seed=7).shown


def test_marks_stand_on_their_values_whatever_the_characters():
    page = of_records([marked(WIDE, "Wide?", name="wide")])
    values = ["b́aker🥐", "שלום", "नमस्ते"]
    assert [text for text in marks(page) if text in values] == values * 2  # as the lead, and among the records
    labels = [data for path, data in page.texts if path and path[-1].startswith("span.label")]
    assert labels[2:5] == ["occupation · high", "location · low", "name · not judged"]  # the first two explain
    texts = [attributes for tag, attributes in page.tags if attributes.get("class") in {"text", "question"}]
    assert {attributes.get("dir") for attributes in texts} == {"auto"}


def test_what_a_page_cannot_hold_is_replaced_one_for_one():
    page = of_records([marked("a\x00b\ud800 [x\x07y|name|low]", "Q\x1b?", name="odd")])
    assert "x\ufffdy" in marks(page)
    sample = json.loads(page.within("#sample"))
    assert sample["texts"] == ["a\ufffdb\ufffd x\ufffdy"]
    assert sample["records"][0]["spans"] == [[5, 8, 0, "low"]]


def test_the_sample_to_search_holds_the_records():
    sample = json.loads(parsed().within("#sample"))
    found = {each["id"]: each for each in sample["records"]}
    assert len(found) == len(sample["records"]) == 18
    assert found["t1"]["text"] == found["t2"]["text"]  # a text is in it once
    for record in (record for records in CORPUS.splits.values() for record in records):
        each = found[record.id]
        assert (sample["texts"][each["text"]], each["question"]) == (record.context, record.question)
        spans = [[span.start, span.end, sample["types"].index(span.entity_type), span.relevance] for span in record.spans]
        assert each["spans"] == spans


def test_twins_are_shown_together_and_what_turns_is_marked():
    page = of_records(twins())
    families = [attributes for tag, attributes in page.tags if tag == "article"]
    assert [attributes["class"] for attributes in families] == ["family twins"] * 2
    turned = [path for path, data in page.texts if data == "⇄" and any(part.startswith("mark.") for part in path)]
    assert len(turned) == 4  # the baker, in both records, twice on the page
    assert "One text, two questions" in page.within("#lead-title")


@pytest.mark.long
def test_of_many_records_thirty_are_shown_and_texts_too_long_are_cut():
    page = of_records([marked(f"I am {n} and [{n} years|age|low] old", name=f"n{n}") for n in range(60)])
    assert len([1 for tag, attributes in page.tags if tag == "article"]) == SHOWN + 1
    assert len(json.loads(page.within("#sample"))["records"]) == 60
    long = of_records([marked(f"[Ann|name|high] {'word ' * 200_000}[Bob|name|low]", name="long")])
    assert "997,0" in long.within("span.cut")
    assert marks(long).count("Ann") == 2
    assert sum(len(data) for _, data in long.texts) < 60_000
    largest = of_records([marked(f"[Ann|name|high] {n} {'word ' * 1000}", name=f"n{n}") for n in range(300)])
    assert len(json.loads(largest.within("#sample"))["records"]) == 500_000 // (3000 + len("Which forms do I need?"))
    assert sum(len(data) for _, data in largest.texts) < 800_000


def told(svg: str) -> dict[str, int]:
    """What the marks of a chart tell, as numbers by name."""
    found = re.findall(r"<title>(.*?): ([\d,]+) \w+</title>", svg)
    return {name: int(number.replace(",", "")) for name, number in found}


def test_the_charts_show_the_figures():
    figures = varied_figures()
    charts = {chart.name: chart for chart in content_charts(figures)}
    assert set(charts) == {"types", "pairs", "lengths-contexts", "lengths-questions", "places", "spans"}
    types = told(charts["types"].svg)
    expected = {(f"{each.type}, {name}"): getattr(each, name) for each in figures.types for name in ("high", "low")}
    assert {name: number for name, number in types.items() if "judged" not in name} == {k: v for k, v in expected.items() if v}
    assert sum(types.values()) == figures.counts.spans
    planned = {f"{pair.first} and {pair.second}": pair.planned for pair in figures.places.pairs if pair.planned}
    assert {name: number for name, number in told(charts["pairs"].svg).items() if number} == planned
    assert sum(planned.values()) == 14
    bins = figures.contexts.lengths.histogram
    assert list(told(charts["lengths-contexts"].svg).values()) == [each.texts for each in bins if each.texts]
    assert list(told(charts["spans"].svg).values()) == [number for _, number in figures.places.per_record]
    guess = guess_chart(figures)
    assert guess is not None
    assert f"type alone: {figures.guessability.type.accuracy:.3f}" in guess.svg


def test_bars_are_as_long_as_their_numbers():
    figures = varied_figures()
    svg = content_charts(figures)[0].svg
    bars = re.findall(r'width="([\d.]+)" height="13" class="\w+"><title>[^:]*: ([\d,]+) spans', svg)
    scales = [float(width) / int(number) for width, number in bars]
    assert max(scales) - min(scales) < 0.02 * max(scales)


def test_places_are_those_of_the_text():
    places = measure(
        {"all": [marked("[Ann|name|high] aaaaaaaaaaaaa [Bob|name|low]"), marked("no", None)]}, taxonomy=shipped_taxonomy()
    ).places
    assert [(each["high"], each["low"]) for each in places.tenths] == [(1, 0), *[(0, 0)] * 7, (0, 1), (0, 0)]
    assert places.per_record == ((0, 1), (2, 1))


@pytest.mark.parametrize(
    "records",
    [
        [marked("")],
        [marked("nothing at all", None)],
        [marked("I am [Ann|name|low].", plan=None)],
        [marked(f"[{'x' * 90}|{'y' * 60}|none]")],
    ],
    ids=["empty", "bare", "no plan", "long names"],
)
def test_any_records_make_a_page(records):
    page = of_records(records)
    assert page.within("#overview")
    assert "None" not in page.within("main.")
