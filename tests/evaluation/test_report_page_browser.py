"""The dataset page in Chromium, from disk: it runs nothing of the corpus, asks for nothing, and works by keys, dark and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.evaluation.report.figures import measure
from piiloom.evaluation.report.page import dataset_page
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.opened_page import OpenedPage, opened_page, serious_violations
from tests.evaluation.page_corpora import ATTACK, page_corpus


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    corpus = page_corpus()
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_bytes(dataset_page(corpus, measure(corpus.splits, taxonomy=shipped_taxonomy())).encode("utf-8", "replace"))
    return path


@pytest.fixture
def opened(browser, path, request) -> Iterator[OpenedPage]:
    """The page; a parameter gives options of the browser's context."""
    with opened_page(browser, path, **getattr(request, "param", {})) as found:
        yield found


def search(opened: OpenedPage, words: str, field_name: str = "any") -> str:
    """Type *words*, and return what the status says then."""
    opened.page.select_option("#field", field_name)
    opened.page.fill("#words", words)
    opened.page.wait_for_timeout(200)
    return str(opened.page.text_content("#found"))


SCHEMES = pytest.mark.parametrize("opened", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"])


@SCHEMES
def test_axe_finds_nothing_serious(opened):
    opened.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    search(opened, "baker")
    assert serious_violations(opened.page) == []


def test_what_the_corpus_holds_is_shown_and_not_run(opened):
    assert search(opened, ATTACK.split()[0]) == "1 record of 18"
    shown = opened.page.text_content("#results .text")
    assert ATTACK in shown
    assert opened.page.locator("img, iframe, #results script").count() == 0


def test_the_search_finds_by_text_question_value_and_type(opened):
    assert search(opened, "baker") == "3 records of 18"
    assert search(opened, "BAKER", "question") == "1 record of 18"
    assert search(opened, "bakers", "question") == "1 record of 18"
    assert search(opened, "leeds", "value") == "4 records of 18"
    assert search(opened, "age occupation", "type") == "8 records of 18"
    assert search(opened, "age kites", "any") == "0 records of 18"
    assert search(opened, "") == ""
    assert opened.page.locator("#results article").count() == 0
    assert opened.page.get_attribute("#found", "aria-live") == "polite"


def test_found_values_are_marked_by_code_points(opened):
    search(opened, "astronaut")
    search(opened, "wide", "question")
    marks = opened.page.evaluate("[...document.querySelectorAll('#results mark')].map((mark) => mark.firstChild.data)")
    assert marks == ["b́aker🥐", "שלום", "नमस्ते"]
    labels = opened.page.locator("#results .label").all_text_contents()
    assert labels == ["occupation · high", "location · low", "name · not judged"]


def test_all_is_reached_by_keys(opened):
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#words")
    page.keyboard.type("the")
    page.wait_for_timeout(200)
    assert page.locator("#results article").count() == 10
    page.focus("#more")
    page.keyboard.press("Enter")
    assert page.locator("#results article").count() > 10
    assert page.evaluate("document.activeElement === document.querySelectorAll('#results article')[10]")


@SCHEMES
def test_the_theme_can_be_changed_and_is_remembered(opened, path):
    page = opened.page
    ground = "getComputedStyle(document.body).backgroundColor"
    before, pressed = page.evaluate(ground), page.get_attribute("#theme", "aria-pressed")
    page.focus("#theme")
    page.keyboard.press("Space")
    after = page.evaluate(ground)
    assert {before, after} == {"rgb(255, 255, 255)", "rgb(20, 24, 31)"}
    assert page.get_attribute("#theme", "aria-pressed") != pressed
    page.reload()
    assert page.evaluate(ground) == after
    opened.asked.remove(path.as_uri())


@pytest.mark.parametrize("opened", [{"viewport": {"width": 360, "height": 740}}], indirect=True)
def test_nothing_is_wider_than_a_phone(opened):
    page = opened.page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    search(opened, "a")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    outside = """[...document.querySelectorAll('main *')].filter((each) => !each.closest('.scroll, pre, svg, .unseen')
        && each.getBoundingClientRect().right > 360.5).map((each) => each.outerHTML.slice(0, 80))"""
    assert page.evaluate(outside) == []


def test_on_paper_there_are_no_controls(opened):
    opened.page.emulate_media(media="print", color_scheme="dark")
    hidden = opened.page.evaluate(
        "['#theme', 'nav', '#search', 'summary'].map((name) => getComputedStyle(document.querySelector(name)).display)"
    )
    assert hidden == ["none"] * 4
    assert opened.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert opened.page.evaluate("getComputedStyle(document.querySelector('.family')).breakInside") == "avoid"


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_without_javascript_the_page_is_whole_but_for_the_search(opened):
    assert opened.page.is_visible("#records")
    assert not opened.page.is_visible("#search")
    assert opened.page.is_visible("text=The search needs JavaScript")
