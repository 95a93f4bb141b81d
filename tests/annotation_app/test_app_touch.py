"""A phone in the real app: a mark is opened by a tap, a selection becomes a span, and what is tapped is large enough."""

from __future__ import annotations

from editor_page import marked
from test_editor_touch import SELECT

from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project, record_of
from tests.annotation_app.served_app import served

RECORD = record_of("r-1", marked("[[Ada|name|low]] came from London to meet [[Grace|name|low]] here."))
# What can be tapped, and is smaller than 24 pixels in one direction (WCAG 2.5.8; marks in the text are exempt, as words in a line are).
_SMALL = """() => [...window.shadow.querySelectorAll("button, input, select, [role=button], [role=option], a")].flatMap((one) => {
    const { width, height } = one.getBoundingClientRect();
    const isSmall = width && height && (width < 24 || height < 24);
    return isSmall ? [`${Math.round(width)} x ${Math.round(height)} ${one.outerHTML.slice(0, 120)}`] : [];
})"""
_EDITOR = """() => {
    const host = [...document.querySelectorAll("*")].find((one) => one.shadowRoot?.querySelector(".editor"));
    window.shadow = host.shadowRoot;
}"""


def test_a_record_is_done_with_one_finger(browser, tmp_path):
    project = make_project(tmp_path / "s.duckdb", [RECORD], {"ana": "annotator"})
    with served(project, "--snapshot-every", "0") as server:
        phone = AppPage(browser, server, "ana", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        phone.open()
        phone.at(RECORD)
        phone.page.evaluate(_EDITOR)
        assert phone.page.evaluate(_SMALL) == []
        phone.locator("mark.span:has-text('Grace')").tap()
        phone.see("mark.span.selected:has-text('Grace')")
        assert phone.page.evaluate(_SMALL) == []
        phone.locator(".span-acts button:has-text('Relevance: low')").tap()
        phone.locator(".text.context").tap(position={"x": 4, "y": 4})
        phone.page.evaluate(SELECT, ["London", "London"])
        phone.locator(".offer").tap()
        phone.see(".picker-row")
        assert phone.page.evaluate(_SMALL) == []
        phone.locator(".picker-row:has-text('location')").tap()
        phone.saved()
        assert phone.values() == ["Ada", "London", "Grace"]
        assert phone.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        phone.locator(".bottom button.primary:has-text('Accept')").tap()
        phone.see_text("h3", "Nothing left to do")
        phone.context.close()
        assert server.stop()[0] == 0
    assert labels(documents_in(project)["r-1", "ana"]) == [("Ada", "name", "low"), ("London", "location", "low"), ("Grace", "name", "high")]
