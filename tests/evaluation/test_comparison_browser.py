"""The page of a comparison in Chromium: accessible, dark and light, and names run nothing."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import pytest

from piiloom.evaluation.comparison import comparison_table, html_page
from tests.evaluation.test_comparison_forms import HOSTILE, comparison


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_runs(browser, tmp_path, color_scheme):
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python, which brings axe-core, is not installed")
    path = tmp_path / "systems.html"
    path.write_text(html_page(comparison_table(replace(comparison(HOSTILE), extra={"<b>cost": {HOSTILE[0]: "$1"}}))), encoding="utf-8")
    page = browser.new_context(color_scheme=color_scheme).new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert page.locator("th[scope=row]").first.text_content() in HOSTILE
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}[color_scheme]
    assert (said, asked) == ([], [path.as_uri()])
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")
    assert found["passes"]
    assert [(each["id"], each["impact"]) for each in found["violations"]] == []
