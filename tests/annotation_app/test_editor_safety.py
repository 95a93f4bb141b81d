"""Whatever a record holds shows as text; long records stay quick; the files stay readable."""

from __future__ import annotations

import re

import pytest
from editor_page import EditorPage, FakeServer, marked

from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.editor import assets

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) ![i](http://x.test/i.png) =cmd|' /C calc'!A0"


@pytest.fixture
def page(browser):
    found = browser.new_page(viewport={"width": 1280, "height": 800})
    yield found
    found.close()


def test_texts_are_shown_as_texts(page):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    document = Document(
        context=f"{NASTY} and {NASTY}",
        question=NASTY,
        marks=(Mark(id='"><img src=x onerror=alert(4)>', start=0, end=len(NASTY), entity_type="name", relevance="low"),),
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
    folder = assets.files("piiloom.annotation_app.editor") / "js"
    long = {path.name: path.read_text(encoding="utf-8").count("\n") for path in folder.iterdir()}
    assert {name: lines for name, lines in long.items() if lines > 250} == {}
    assert {f"{name}.js" for name in assets.SCRIPTS} == set(long)


def test_a_long_record_stays_quick(page):
    words = [f"word{number}" for number in range(20_000)]
    context, marks, at = " ".join(words), [], 0
    for number in range(0, 20_000, 100):
        start = context.index(words[number], at)
        at = start + len(words[number])
        marks.append(Mark(id=f"s{number}", start=start, end=at, entity_type="name", relevance="low"))
    editor = EditorPage(page, FakeServer({"long": Document(context=context, question="Why?", marks=tuple(marks))}, checks=[]))
    editor.press("Tab")
    took = page.evaluate(
        """() => {
            const times = [];
            for (const key of ["r", "r", "]", "[", "Tab", "r", "Delete", "u"]) {
                const target = window.shadow.activeElement || document.body;
                const begun = performance.now();
                target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, composed: true, cancelable: true}));
                window.shadow.querySelector(".text").getBoundingClientRect();
                times.push(performance.now() - begun);
            }
            return times;
        }"""
    )
    editor.settle(60)
    assert len(editor.sent) == 7
    assert sorted(took)[len(took) // 2] < 120, took  # 15 to 45 ms on a quiet machine; two cores are shared here


def test_the_component_is_registered_with_the_assets():
    pytest.importorskip("streamlit", reason="the extra annotate is not installed")
    from piiloom.annotation_app.editor import component

    assert callable(component.mount)
    assert assets.script().rstrip().endswith("export default mountEditor;")


def test_marked_templates():
    document = marked("a [[b|name|low]] c")
    assert (document.context, document.marks[0].start) == ("a b c", 2)
