"""Every page in light and dark, looked through by axe-core; one main landmark, a title of its own, names that begin with what is seen."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from disputed_project import make_disputed
from editor_page import marked

from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, record_of, sync_api
from tests.annotation_app.served_app import served

pytest.importorskip("axe_playwright_python", reason="axe-playwright-python, which brings axe-core, is not installed")
pytestmark = pytest.mark.long
RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]], note {n}.")) for n in range(3)]
# What a page shows when it is there, by its path.
PAGES = {
    "work": ".editor",
    "records": "h3:has-text('Records')",
    "adjudicate": "button:has-text('Decide so')",
    "guidelines": ".st-key-piiloom_guidelines",
    "training": "[role=radiogroup]",
    "dashboard": "[role=radiogroup]",
    "admin": "[role=tab]",
}
# Names, roles and places are the same in the dark: there only colours are looked at.
_RUN = """async (scheme) => {
    const rules = scheme === "dark" ? {runOnly: ["color-contrast"]} : {rules: {"label-content-name-mismatch": {enabled: true}}};
    const found = await axe.run(document, {...rules, resultTypes: ["violations"]});
    const told = (node) => [node.html.slice(0, 200), ...node.any.map((check) => check.message)].join(" ");
    return found.violations.map((one) => [one.id, one.impact, one.nodes.map(told)]);
}"""
# Whether the page is as bright as the scheme says.
_GROUND = """(scheme) => {
    const shown = getComputedStyle(document.querySelector(".stApp") || document.body).backgroundColor;
    return (Number(shown.match(/[0-9]+/)[0]) > 127) === (scheme === "light");
}"""
_GRAVE = {"serious", "critical"}
# Rules that axe calls moderate or minor, and that matter here all the same.
_ALSO = {"landmark-one-main", "landmark-no-duplicate-main", "label-content-name-mismatch", "document-title", "page-has-heading-one"}


@pytest.fixture
def project(tmp_path):
    return make_disputed(tmp_path / "s.duckdb", RECORDS, asked="Is a nickname a name?")


def faults(page: AppPage, name: str) -> list[str]:
    """What axe finds serious on the page, in light or dark, or of ``_ALSO``, as lines to read.

    It looks twice where it finds some: Streamlit fades what it draws anew.
    """
    page.page.evaluate(_axe())
    told: list[str] = []
    for scheme in ("light", "dark"):
        page.page.emulate_media(color_scheme=scheme)
        page.page.wait_for_function(_GROUND, arg=scheme)
        for last in (False, True):
            found: list[Any] = page.page.evaluate(_RUN, scheme)
            lines = [
                f"{name}, {scheme}: {rule}: {one}" for rule, impact, nodes in found if impact in _GRAVE or rule in _ALSO for one in nodes
            ]
            if not lines:
                break
            page.page.wait_for_timeout(0 if last else 1500)
        told += lines
    return told


def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def test_axe_finds_nothing_serious(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        page = AppPage(browser, server)
        page.page.goto(f"{server.url}/account/login")
        told = faults(page, "login")
        page.log_in("judge")
        titles = []
        for path, shown in PAGES.items():
            page.open(path)
            sync_api.expect(page.locator(shown).filter(visible=True).first).to_be_visible(timeout=PATIENCE_MS)
            page.drawn()
            told += faults(page, path)
            titles.append(page.page.title())
            for tab in page.page.get_by_role("tab").all()[1:]:
                words = tab.inner_text()
                tab.click()
                page.drawn()
                told += faults(page, f"{path}, {words}")
        assert told == []
        assert len(set(titles)) == len(titles)
        page.context.close()
        assert server.stop()[0] == 0
