"""The gallery as text: nothing of the corpus is markup, the texts are whole, and the marks stand on their mentions."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.gallery.counts import aligned_rows
from piiloom.evaluation.gallery.page import GalleryCollector, gallery_page, write_gallery
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.foundation.errors import OutputError
from tests.evaluation.gallery_pairs import hostile_pairs, mention, pair_of, some_pairs
from tests.evaluation.html_page import Page
from tests.evaluation.page_corpora import ATTACK
from tests.longer import few

_NOT_OF_THE_TEXT = ("span.label", "span.cut", "summary.")


def page_of(*pairs: Pair, title: str = "some", limit: int = 300) -> Page:
    return Page(html_of(*pairs, title=title, limit=limit))


def html_of(*pairs: Pair, title: str = "some", limit: int = 300) -> str:
    collector = GalleryCollector(limit=limit)
    for pair in pairs:
        collector.add(pair)
    return gallery_page(collector, title)


@cache
def hostile() -> str:
    return html_of(*some_pairs(), *hostile_pairs(), title=ATTACK)


def texts_of(page: Page) -> list[str]:
    """The text of each document, without labels and what the page says between."""
    found: dict[str, str] = {}
    for path, data in page.texts:
        article = next((part for part in path if part.startswith("article.")), None)
        if article and "div.text#" in path and not any(part.startswith(_NOT_OF_THE_TEXT) for part in path):
            found[article] = found.get(article, "") + data
    return list(found.values())


def marked_with(page: Page, side: str) -> list[str]:
    """The marked pieces with the class *side*, in the texts."""
    pieces = [(path[-1], data) for path, data in page.texts if "div.text#" in path and path[-1].startswith("mark.")]
    return [data for element, data in pieces if side in element.removeprefix("mark.").removesuffix("#").split()]


def labels(page: Page) -> list[str]:
    """The labels in the texts of errors, each with its number."""
    found: list[str] = []
    for path, data in page.texts:
        if any(part.startswith("span.label ") for part in path):
            found += [data] if path[-1].startswith("b.") else [found.pop() + data]
    return found


def test_nothing_of_the_corpus_is_markup():
    page = Page(hostile())
    tags = Counter(tag for tag, _ in page.tags)
    assert (tags["script"], tags["img"], tags["style"]) == (1, 0, 1)
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "<!--" not in hostile()
    assert ATTACK in page.within("h1.")
    assert page.within("#documents").count(ATTACK) >= 8  # id, locale, question, text, type, subject, value …


def test_the_page_fetches_nothing_and_runs_only_its_own_script():
    page = Page(hostile())
    links = {attributes["href"] for _, attributes in page.tags if "href" in attributes}
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= {attributes.get("id") for _, attributes in page.tags}
    assert not [attributes for _, attributes in page.tags if attributes.keys() & {"src", "srcset", "style", "action", "data"}]
    assert not re.search(r"https?:|url\(|@import", hostile())
    policy = next(attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", hostile(), re.DOTALL)
        assert f"{name}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy


def test_equal_documents_give_equal_bytes_in_whatever_order_they_come():
    pairs = [*some_pairs(), *hostile_pairs()]
    assert html_of(*pairs[::-1], title=ATTACK) == hostile()


def test_the_texts_are_whole():
    pairs = {pair.gold.id: pair.gold.text for pair in (*some_pairs(), *hostile_pairs())}
    shown = texts_of(Page(hostile()))
    assert set(shown) <= set(pairs.values())
    assert ATTACK in "".join(shown)
    assert any(text.startswith("👩‍🚀🎉 I, a b́aker🥐") for text in shown)


_ODD = "ab <>&\"'\u202e\u2066\u0301👩🚀\U0001f468\nא"
_CHARACTERS = st.text(st.sampled_from(_ODD) | st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)


@few
@given(_CHARACTERS, st.data())
def test_any_text_with_any_marks_is_shown_as_it_is(text, data):
    def some(side: str) -> list[AnnotatedMention]:
        found = []
        for _ in range(data.draw(st.integers(0, 3), label=side)):
            start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
            found.append(mention(text, start, end, data.draw(st.sampled_from(["a", "<b>", None]))))
        return found

    gold, found = some("gold"), some("found")
    pair = pair_of(text, gold, found)
    wrong = any(row.kind != "correct" for row in aligned_rows(pair))
    page = page_of(pair)
    assert texts_of(page) == ([text] if wrong and text else [])
    marked = sorted({at for one in (*gold, *found) for at in range(one.start or 0, one.end or 0)})
    shown = [data for path, data in page.texts if "div.text#" in path and path[-1].startswith("mark.")]
    assert "".join(shown) == ("".join(text[at] for at in marked) if wrong else "")


def test_gold_and_predicted_marks_may_overlap():
    text = "👩‍🚀 Ann Lee of Leeds"
    page = page_of(pair_of(text, [mention(text, 4, 11, relevance="high"), mention(text, 15, 20, "place")], [mention(text, 8, 14)]))
    assert marked_with(page, "gold") == ["Ann ", "Lee", "Leeds"]
    assert marked_with(page, "found") == ["Lee", " of"]
    assert marked_with(page, "gold-begins") == ["Ann ", "Leeds"]
    assert marked_with(page, "found-begins") == ["Lee"]
    assert labels(page) == ["1 gold: name · high", "1 predicted: name", "2 missed: place"]
    rows = page.within("table.errors")
    assert "shifted" in rows
    assert "missed" in rows


def test_errors_are_told_with_all_that_filters_compare():
    text = "Ann met Bob"
    gold = [mention(text, 0, 3, "name", relevance="high", subject="self"), mention(text, 8, 11, "name", relevance="low")]
    found = [mention(text, 0, 3, "place", relevance="low")]
    page = page_of(
        pair_of(text, gold, found, question="Who?", locale="en_GB"), pair_of("Bath", [mention("Bath", 0, 4, "place")], name="d2")
    )
    rows = [attributes for tag, attributes in page.tags if tag == "tr" and "data-kind" in attributes]
    options = {attributes["id"]: attributes for tag, attributes in page.tags if tag == "select"}
    assert set(options) == {"by-kind", "by-type", "by-relevance", "by-locale", "by-subject"}
    # Types: name, place; relevance: high, low, not stated; locales: en_GB, not stated; subjects: not stated, self.
    assert [(row["data-type"], row["data-relevance"], row["data-locale"], row["data-subject"]) for row in rows] == [
        ("0 1", "0", "0", "1"),
        ("0", "1", "0", "0"),
        ("1", "2", "1", "0"),
    ]
    assert "also wrong relevance" in page.within("table.errors")
    assert "Who?" in page.within("p.question")


def test_what_a_page_cannot_hold_is_replaced_one_for_one():
    text = "a\x00b\ud800 x\x07y"
    page = page_of(pair_of(text, [mention(text, 5, 8, "t\x00")], name="i\x00d"))
    assert texts_of(page) == ["a\ufffdb\ufffd x\ufffdy"]
    assert marked_with(page, "gold") == ["x\ufffdy"]
    assert "\x00" not in html_of(pair_of(text, [mention(text, 5, 8, "t\x00")], name="i\x00d"))


def test_far_from_errors_a_text_is_folded_and_a_long_one_cut():
    text = f"Ann {'word ' * 300}Bob {'word ' * 100}"
    bob = text.index("Bob")
    page = page_of(pair_of(text, [mention(text, 0, 3), mention(text, bob, bob + 3)]))
    assert texts_of(page) == [text]
    # From 200 after Ann to 200 before Bob; after Bob 501 code points are too few to fold.
    assert page.within("summary.").count("1,101 characters") == 1
    long = f"Ann {'word ' * 3000}"
    page = page_of(pair_of(long, [mention(long, 0, 3)]))
    assert texts_of(page) == [long[:303]]
    assert f"{len(long) - 303:,} characters that are not on this page" in page.within("span.cut")


def test_documents_without_text_and_files_without_errors_make_a_page():
    table = Pair(
        gold=AnnotatedDocument(where="g", id="t", mentions=(AnnotatedMention(text="Ann", entity_type="name"),)),
        found=AnnotatedDocument(where="f", id="t"),
    )
    assert "no text of this document" in page_of(table).within("article.")
    empty = page_of()
    assert "0 of 0 documents" in empty.within("#documents-title")
    assert "None" not in empty.within("main.")
    perfect = page_of(pair_of("Ann", [mention("Ann", 0, 3)], [mention("Ann", 0, 3)]))
    assert "article" not in {tag for tag, _ in perfect.tags}


def test_what_is_shown_is_told_beside_what_there_is():
    page = page_of(*some_pairs(), limit=3)
    count = sum(1 for tag, _ in page.tags if tag == "article")
    assert count == 3
    assert re.match(r"3 of \d\d documents", page.within("#documents-title"))


def test_the_file_is_replaced_whole(tmp_path):
    path = tmp_path / "out" / "gallery.html"
    for title in ("one", "two"):
        write_gallery(path, GalleryCollector(), title)
    assert "<title>two – errors</title>" in path.read_text(encoding="utf-8")
    assert [each.name for each in path.parent.iterdir()] == ["gallery.html"]
    with pytest.raises(OutputError, match="cannot be written"):
        write_gallery(path / "gallery.html", GalleryCollector(), "three")
