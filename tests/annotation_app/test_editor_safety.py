"""Whatever a record holds shows as text; a key press costs the same in long records; the files stay readable."""

from __future__ import annotations

import re
from functools import partial

import pytest
from editor_page import EditorPage, FakeServer, marked
from long_records import KEYS, open_long, watch, work_of

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.annotation_app.sync import editor_data as assets
from piiloom.foundation.yaml_files import data_folder

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) ![i](http://x.test/i.png) =cmd|' /C calc'!A0"

# The most that one key adds is the list of types (key t).
MOST_NODES = 200
# A span that goes or comes back joins or parts the hundred words before it and those behind it.
MOST_LETTERS = 2_200


@pytest.fixture
def page(browser):
    found = browser.new_page(viewport={"width": 1280, "height": 800})
    yield found
    found.close()


def test_texts_are_shown_as_texts(page):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    document = EditedDocument(
        context=f"{NASTY} and {NASTY}",
        question=NASTY,
        marks=(SpanMark(id='"><img src=x onerror=alert(4)>', start=0, end=len(NASTY), entity_type="name", relevance="low"),),
    )
    server = FakeServer(
        {NASTY: document},
        why={NASTY: NASTY, "list": [{NASTY: NASTY}]},
        help=NASTY,
        notices=[{"sequence": 1, "level": NASTY, "text": NASTY}],
        types=[{"name": "name", "colour": "red;background:url(http://x.test/c.png)"}, {"name": NASTY, "colour": NASTY}],
        checks=[
            {"code": "c", "sentence": NASTY, "field": "context", "spans": [], "ranges": [[0, 5]], "fix": {"op": NASTY}, "fix_label": NASTY}
        ],
    )
    editor = EditorPage(page, server)
    editor.press("Tab", "p", "t", "Escape", "f")
    editor.type(NASTY)
    editor.press("Enter", "?", "Escape", "Escape", "x")  # the help, then the notice
    editor.type(NASTY)
    editor.press("Escape")
    editor.click(".why summary")
    editor.click(".check-text")
    editor.press("e")
    editor.type(NASTY)
    editor.press("Escape")
    page.wait_for_timeout(50)
    assert page.evaluate("window.dialogs") == 0
    assert page.evaluate("window.shadow.querySelectorAll('script, img, iframe, a, link, object').length") == 0
    assert NASTY in page.evaluate("window.shadow.querySelector('.text.context').textContent")
    assert {url for url in asked if not url.startswith("http://editor.test/")} == set()
    assert server.history.state.flag == NASTY


def test_no_file_writes_html():
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML", assets.script())
    assert "http" not in assets.script().replace("https://www.w3.org", "")
    assert "url(" not in assets.styles()


def test_files_stay_readable():
    folder = data_folder("annotation_app") / "editor" / "js"
    long = {path.name: path.read_text(encoding="utf-8").count("\n") for path in folder.iterdir()}
    assert {name: lines for name, lines in long.items() if lines > 250} == {}
    assert {f"{name}.js" for name in assets.SCRIPTS} == set(long)


def test_a_key_press_costs_as_much_in_a_long_record_as_in_a_short_one(browser):
    found = []
    for words in (1_000, 20_000):
        editor = open_long(browser.new_page(viewport={"width": 1280, "height": 800}), words)
        watch(editor)
        found.append([(key, work_of(editor, partial(editor.press, key))) for key in KEYS])
        assert len(editor.sent) == 8
        assert max(work["added"] for _, work in found[-1]) <= MOST_NODES
        assert max(work["letters"] for _, work in found[-1]) <= MOST_LETTERS
        # A rebuild of the whole text, here because a type got another colour, is seen as such.
        editor.server.settings["types"] = [{"name": "name", "colour": "#123456"}]
        assert work_of(editor, editor.push)["letters"] > len(editor.server.document.context)
        editor.page.close()
    for (key, short), (_, long) in zip(*found, strict=True):
        assert (key, long["added"], long["removed"]) == (key, short["added"], short["removed"])
        assert abs(long["letters"] - short["letters"]) <= 8, key  # the number of spans has more digits


def test_the_component_is_registered_with_the_assets():
    from piiloom.annotation_app.screens import editor

    assert callable(editor.mount)
    assert assets.script().rstrip().endswith("export default mountEditor;")


def test_marked_templates():
    document = marked("a [[b|name|low]] c")
    assert (document.context, document.marks[0].start) == ("a b c", 2)
