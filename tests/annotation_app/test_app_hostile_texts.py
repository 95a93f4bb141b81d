"""Texts that would like to be something else, on every page of the real app: all of it is shown as text, nothing of it acts."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from editor_page import marked
from screen_stage import ACCEPT, does

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.record import Provenance, RecordPlan
from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, make_project, record_of, sync_api
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served

pytestmark = pytest.mark.long
# Each would become an element of its own whose whole text is "zap" and a number.
SPELLS = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> <b>zap1</b> [zap2](javascript:alert(3)) ![zap3](http://evil.example/c.png) "
    "[zap4](http://evil.example/d) **zap5** `zap6` ~~zap7~~ $zap8$ :red[zap9] :material/home: :streamlit: http://evil.example/zap10 "
    "www.evil.example a@evil.example -> </style><svg onload=alert(4)> =HYPERLINK(1)"
)
SHOWN = ("<b>zap1</b>", "[zap4](http://evil.example/d)", "$zap8$", ":red[zap9]", ":material/home:", ":streamlit:", "->")
ANA, BO = "ana <b>zap1</b> ![zap3](http://evil.example/n.png) $zap8$", "bo **zap5** :red[zap9] http://evil.example/zap10"
PEOPLE = {ANA: "annotator", BO: "annotator", "boss": "admin"}
RECORDS = [
    record_of(
        f"r{n} ![zap3](http://evil.example/id)", marked(f"[[Ada $zap8$ <b>zap1</b>|name|low]] came to [[Kent|location|high]]. {SPELLS}")
    )
    for n in range(3)
]
_MADE = """() => {
    const found = [], texts = [];
    // An id in an address of our own, encoded, leads nowhere else; every other origin, script or mail address would.
    const isOutside = (address) => {
        const { origin, protocol } = new URL(address, document.baseURI);
        return origin !== location.origin && protocol !== "data:" && protocol !== "blob:";
    };
    const look = (root) => {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) look(one.shadowRoot);
            const text = one.textContent.trim();
            const leads = ["href", "src"].map((name) => one.getAttribute(name)).some((address) => address && isOutside(address));
            const acts = one.getAttributeNames().some((name) => name.startsWith("on"));
            if (/^zap[0-9]+$/.test(text) || leads || acts || one.matches(".katex, [data-testid=stIconMaterial]") &&
                /zap|home/.test(text)) found.push(one.outerHTML.slice(0, 200));
            if (one.matches("script") && text.includes("alert")) found.push(one.outerHTML.slice(0, 200));
        }
        texts.push(root.body ? root.body.textContent : root.textContent);
    };
    look(document);
    return [found, texts.join("\\n").replaceAll("\\u2060", "")];
}"""


class Looker:
    """Looks whether anything was made of the texts on a page."""

    def __init__(self, page: AppPage) -> None:
        self.page = page

    def at(self, *shown: str) -> None:
        """Wait for the page to rest; nothing was made of texts, and each of *shown* is there to read."""
        self.page.drawn()
        missing: list[str] = []
        for _ in range(100):
            found, text = self.page.page.evaluate(_MADE)
            assert found == []
            missing = [words for words in shown if words not in text]
            if not missing:
                self.page.drawn()
                return
            self.page.page.wait_for_timeout(100)
        told = self.page.locator("[data-testid=stAlert]").all_inner_texts()
        raise AssertionError(f"not shown: {missing}; told: {told}")

    def tab(self, name: str, *shown: str) -> None:
        self.page.page.get_by_role("tab", name=name, exact=True).click()
        self.at(*shown)

    def finish(self) -> None:
        assert self.page.dialogs == []
        hosts = {urlsplit(address).hostname for address in self.page.asked if address.startswith(("http", "ws"))}
        assert hosts == {"127.0.0.1"}
        self.page.context.close()


@pytest.fixture
def project(tmp_path):
    made = Provenance(stage="screen", provider=SPELLS, model=SPELLS, templates=((SPELLS, "ab"),))
    plan = RecordPlan(pair=("name", "location"), scenario=SPELLS)
    path = make_project(
        tmp_path / "s.duckdb",
        [replace(record, plan=plan, provenance=made) for record in RECORDS],
        {ANA: "annotator", BO: "annotator"},
        wanted=2,
        see_others=True,
        blind=False,
    )
    services = open_services(path)
    try:
        services.accounts.add("judge", "admin", display=BO, password=GOOD)
        one, two, three = (record.id for record in RECORDS)
        does(services, ANA, one, {"op": "flag", "comment": SPELLS}, ACCEPT)
        does(services, BO, one, {"op": "relevance", "id": RECORDS[0].spans[0].id, "relevance": "high"}, ACCEPT)
        does(services, ANA, two, {"op": "reject", "reason": SPELLS})
        does(services, BO, two, ACCEPT)
        asked = services.guidelines.ask(BO, SPELLS, three)
        services.guidelines.answer("judge", asked.question, SPELLS)
        services.guidelines.ask(ANA, SPELLS)
    finally:
        services.close()
    return path


def test_what_annotators_see(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        look = Looker(AppPage(browser, server, ANA))
        look.page.open()
        look.at(*SHOWN, f"Logged in as {ANA}")
        look.page.press("f")
        look.page.type(SPELLS)
        look.page.press("Enter", "p")
        look.page.see(".text.preview")
        look.at(*SHOWN)
        for words in ("Questions on this record", "History"):
            look.at(words, *SHOWN)
        look.page.open("records")
        look.at("Ada $zap8$ <b>zap1</b> came to Kent", "[zap4](http://evil.example/d)", BO)
        links = look.page.locator("a.name").evaluate_all("(all) => all.map((one) => new URL(one.href).searchParams.get('record'))")
        assert sorted(links) == [record.id for record in RECORDS]
        look.page.page.get_by_role("textbox", name="Search").fill(SPELLS)
        look.page.page.keyboard.press("Enter")
        look.at("records · page 1")
        look.page.open("guidelines")
        look.tab("Questions", *SHOWN, BO)
        look.page.open("training")
        look.at("no practice records yet")
        look.finish()
        assert server.stop()[0] == 0


def test_what_adjudicators_see(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        look = Looker(AppPage(browser, server, "judge"))
        page = look.page.page
        look.page.open("adjudicate")
        look.at(*SHOWN, f"Logged in as {BO}", f"Take {BO}")
        page.get_by_text("Why it was labelled so").click()
        look.at(*SHOWN)
        page.get_by_role("button", name="Take bo").click()
        look.at("Decided")
        take = page.get_by_role("button", name="Take bo")
        sync_api.expect(take).to_have_count(1, timeout=PATIENCE_MS)  # that of the record before stays until the page is drawn anew
        take.click()
        look.at("Nothing waits for a decision")
        look.page.open("dashboard")
        for part in ("What people change", "Agreement", "Hidden controls", "Errors left", "Progress"):
            page.get_by_role("radio", name=part).or_(page.get_by_role("button", name=part)).first.click()
            look.at()
        look.page.open("guidelines")
        look.tab("Questions", *SHOWN, ANA, BO)
        look.finish()
        assert server.stop()[0] == 0


def test_what_admins_see(browser, project):
    with served(project, "--snapshot-every", "0") as server:
        look = Looker(AppPage(browser, server, "judge"))
        page = look.page.page
        look.page.open("admin")
        for tab in ("Assign", "Settings", "Training and controls", "Back up", "Stats", "Import"):
            look.tab(tab)
        look.tab("People", ANA)
        page.get_by_role("combobox", name="Change", exact=True).click()
        page.get_by_role("option", name="ana").click()
        page.get_by_role("button", name="Change", exact=True).click()
        look.at(f"{ANA}: annotator. That person has to log in again.")
        page.get_by_label("Name", exact=True).fill(BO)
        page.get_by_label("Password", exact=True).fill(GOOD)
        page.get_by_role("button", name="Add", exact=True).click()
        look.at(f"there is an account '{BO}' already")
        look.tab("Export")
        page.get_by_label("Name of the release").fill(SPELLS)
        page.get_by_text("Only validated records").click()
        page.get_by_label("Test records").fill("0")
        page.get_by_role("button", name="Export", exact=True).click()
        look.at("Written to", *SHOWN)
        page.get_by_label("Name of the release").fill(SPELLS)
        page.get_by_role("button", name="Export", exact=True).click()
        look.at("there is a release", *SHOWN)
        look.finish()
        assert server.stop()[0] == 0
