"""The gallery in Chromium, from disk: filters, search and keys; it runs nothing of the corpus and works without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.evaluation.gallery.page import GalleryCollector, write_gallery
from tests.evaluation.gallery_pairs import hostile_pairs, mention, pair_of
from tests.evaluation.opened_page import OpenedPage, opened_page, serious_violations
from tests.evaluation.page_corpora import ATTACK

TEXT = "Ann Lee of Leeds met Bob Ray."
LONG = f"Ann {'word ' * 300}Bob"


def m(start: int, end: int, entity_type: str = "name", **labels: str):
    return mention(TEXT, start, end, entity_type, **labels)


def pairs():
    """Five documents with ten errors: d1 too long, missed; d2 wrong type, spurious; d3 missed, missed; and those that are hostile."""
    high, low = {"relevance": "high", "subject": "self"}, {"relevance": "low", "subject": "friend"}
    return [
        pair_of(TEXT, [m(0, 3, **high), m(21, 28, **low)], [m(0, 7, **high)], name="d1", locale="en_GB", question="Who is the baker?"),
        pair_of(TEXT, [m(11, 16, "place", **low)], [m(11, 16, "name"), m(17, 20, "place")], name="d2", locale="en_US"),
        pair_of(LONG, [mention(LONG, 0, 3, **high), mention(LONG, len(LONG) - 3, len(LONG))], name="d3", locale="en_US"),
        pair_of(TEXT, [m(0, 7)], [m(0, 7)], name="right"),
        *hostile_pairs(),
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    collector = GalleryCollector()
    for pair in pairs():
        collector.add(pair)
    path = tmp_path_factory.mktemp("gallery") / "gallery.html"
    write_gallery(path, collector, f"Some {ATTACK}")
    return path


@pytest.fixture
def opened(browser, path, request) -> Iterator[OpenedPage]:
    """The page; a parameter gives options of the browser's context."""
    with opened_page(browser, path, **getattr(request, "param", {})) as found:
        yield found


def choose(opened: OpenedPage, **chosen: str) -> str:
    """Choose options by the beginning of their names, and return the status."""
    for name, option in chosen.items():
        options = opened.page.locator(f"#by-{name} option").all_text_contents()
        opened.page.select_option(f"#by-{name}", index=next(at for at, each in enumerate(options) if each.startswith(option)))
    return str(opened.page.text_content("#found"))


def search(opened: OpenedPage, words: str) -> str:
    opened.page.fill("#words", words)
    opened.page.wait_for_timeout(200)
    return str(opened.page.text_content("#found"))


def seen(opened: OpenedPage) -> list[str]:
    return list(opened.page.locator("#documents article:visible h3 a").all_text_contents())


SCHEMES = pytest.mark.parametrize("opened", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"])


@SCHEMES
def test_axe_finds_nothing_serious(opened):
    opened.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    search(opened, "a")  # in all documents, whose rows are marked as hits
    assert opened.page.locator("tr.hit:visible").count() == 10
    assert serious_violations(opened.page) == []


def test_what_the_corpus_holds_is_shown_and_not_run(opened):
    assert search(opened, ATTACK.split()[0]) == "1 document of 5, 2 errors of 10"
    assert ATTACK in opened.page.text_content("#documents article:visible .text")
    assert opened.page.locator("img, iframe, main script").count() == 0


def test_filters_and_their_counts(opened):
    assert opened.page.text_content("#found") == "5 documents of 5, 10 errors of 10"
    assert choose(opened, kind="missed") == "3 documents of 5, 5 errors of 10"
    assert seen(opened) == ["d1", "d3", "wide"]
    # Of the types of what is missed, as the counts in the list say.
    options = opened.page.locator("#by-type option").all_text_contents()
    assert {"name (4)", "location (1)", "place (0)"} <= set(options)
    assert choose(opened, type="name") == "3 documents of 5, 4 errors of 10"
    assert choose(opened, relevance="high") == "1 document of 5, 1 error of 10"
    assert opened.page.locator("tr.hit:visible").count() == 1
    assert choose(opened, locale="en_GB") == "0 documents of 5, 0 errors of 10"
    assert seen(opened) == []
    opened.page.click("button[type=reset]")
    opened.page.wait_for_timeout(50)
    assert opened.page.text_content("#found") == "5 documents of 5, 10 errors of 10"
    assert opened.page.locator("tr.hit").count() == 0
    assert choose(opened, kind="boundary") == "1 document of 5, 1 error of 10"
    assert choose(opened, kind="any", subject="friend") == "2 documents of 5, 2 errors of 10"


def test_the_search_finds_words_of_text_question_values_and_id(opened):
    assert search(opened, "leeds MET") == "2 documents of 5, 4 errors of 10"
    assert search(opened, "baker ann") == "1 document of 5, 2 errors of 10"
    assert search(opened, "d3") == "1 document of 5, 2 errors of 10"
    assert search(opened, "nowhere") == "1 document of 5, 2 errors of 10"
    assert search(opened, "predicted") == "0 documents of 5, 0 errors of 10"  # only labels say that
    # Filters go together with words.
    search(opened, "leeds")
    assert choose(opened, kind="spurious") == "1 document of 5, 1 error of 10"
    assert opened.page.get_attribute("#found", "aria-live") == "polite"


def test_all_is_reached_by_keys(opened):
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#by-kind")
    page.keyboard.press("m")  # the first kind that begins so
    assert page.text_content("#found") == "3 documents of 5, 5 errors of 10"
    focused = "document.activeElement.textContent"
    page.keyboard.press("j")  # in a list, it is a letter
    assert page.evaluate("document.activeElement.id") == "by-kind"
    page.focus("#documents article:not([hidden]) h3 a")
    assert page.evaluate(focused) == "d1"
    page.keyboard.press("j")
    assert page.evaluate(focused) == "d3"
    page.keyboard.press("j")
    page.keyboard.press("j")  # there is no further one
    assert page.evaluate(focused) == "wide"
    page.keyboard.press("k")
    assert page.evaluate(focused) == "d3"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.localName") == "summary"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")


def test_marks_stand_on_code_points(opened):
    marks = opened.page.evaluate("[...document.querySelectorAll('article .text mark')].map((mark) => mark.textContent)")
    assert {"b́aker🥐", "שלום", "नमस्ते"} <= set(marks)


@pytest.mark.parametrize("opened", [{"viewport": {"width": 360, "height": 740}}], indirect=True)
def test_nothing_is_wider_than_a_phone(opened):
    opened.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_without_javascript_all_is_shown_and_folds_open(opened):
    assert len(seen(opened)) == 5
    assert not opened.page.is_visible("#filters")
    assert not opened.page.is_visible("#theme")
    assert opened.page.is_visible("table.matrix")
    opened.page.click("details.fold summary")
    assert opened.page.locator("details.fold[open]").count() == 1
