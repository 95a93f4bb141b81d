"""Files in and out through the page Admin of the real app: what is uploaded is told, what is downloaded is what was clicked."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from editor_page import marked

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import count_records
from tests.annotation_app.app_driver import AppPage, make_project, record_of, sync_api
from tests.annotation_app.served_app import served

pytestmark = pytest.mark.long
RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] met [[Grace|name|low]] in [[Kent|location|high]] as note {n}.")) for n in range(3)]
PEOPLE = {"ana": "annotator", "boss": "admin"}
SAMPLE = next(
    (found for above in Path(__file__).resolve().parents if (found := above / "shared/data/capid/raw_pipeline_sample.jsonl").is_file()),
    None,
)
GOOD_ROW = {"context": "I am Bob Stone.", "question": "Who?", "piis": {"Bob Stone": {"type": "name", "relevance": "low"}}}


def admin(browser, server, part: str) -> AppPage:
    page = AppPage(browser, server, "boss")
    page.open("admin")
    page.page.get_by_role("tab", name=part, exact=True).click()
    return page


def send(page: AppPage, name: str, content: bytes) -> None:
    """Upload *content* under *name* as CAPID rows."""
    panel = page.page.get_by_role("tabpanel").filter(visible=True)
    panel.locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/json", "buffer": content})
    chosen = panel.get_by_role("button", name=f"Remove {name}")
    sync_api.expect(chosen).to_be_visible(timeout=45_000)
    panel.get_by_role("combobox", name="Format").click()
    page.page.get_by_role("option", name="capid", exact=True).click()
    panel.get_by_role("button", name="Import", exact=True).click()
    sync_api.expect(chosen).to_be_hidden(timeout=45_000)  # done, and the form is empty again


def download(page: AppPage, name: str) -> bytes:
    with page.page.expect_download() as caught:
        page.page.get_by_role("link", name=name).click()
    return Path(caught.value.path()).read_bytes()


def test_the_archive_that_is_downloaded_holds_what_was_clicked(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", RECORDS, PEOPLE)
    with served(path, "--snapshot-every", "0") as server:
        ana = AppPage(browser, server, "ana")
        ana.open()
        for keys in (("Tab", "Delete", "a"), ("Tab", "Tab", "r", "a")):
            ana.at("note")
            before = ana.shown()
            ana.press(*keys)
            sync_api.expect(ana.locator(".text.context")).not_to_have_text(before, timeout=45_000)
        ana.saved()
        boss = admin(browser, server, "Export")
        boss.page.get_by_label("Name of the release").fill("../first <b>")
        boss.page.get_by_label("Test records").fill("0")
        boss.page.get_by_role("button", name="Export", exact=True).click()
        boss.see_text("[data-testid=stAlert]", "2 in train.jsonl")
        boss.page.get_by_role("combobox", name="Format").nth(1).click()
        boss.page.get_by_role("option", name="capid", exact=True).click()
        boss.page.get_by_role("button", name="Write it").click()
        boss.see_text(".piiloom-files", "capid")
        names = boss.page.locator(".piiloom-files a").all_inner_texts()
        archive = zipfile.ZipFile(io.BytesIO(download(boss, next(name for name in names if "native" in name))))
        links = boss.page.locator(".piiloom-files a").evaluate_all("(found) => found.map((one) => one.href)")
        # Whoever has the address and not the role, or nothing, gets nothing.
        refused = [ana.context.request.get(link) for link in links]
        assert [(answer.status, answer.text()) for answer in refused] == [(403, "This is for admins.")] * 2
        with server.client() as client:
            assert {client.get(link).status_code for link in links} == {403}
            assert client.get(f"{links[0]}%2F..%2F..%2Fs.duckdb").status_code in {400, 403}
        assert boss.context.request.get(f"{server.url}/account/files/exports/..%2Fs.duckdb").status in {400, 404}
        boss.page.get_by_role("button", name="Log out").click()
        boss.page.wait_for_url(f"{server.url}/account/login")
        assert {boss.context.request.get(link).status for link in links} == {403}
        for page in (ana, boss):
            page.context.close()
        assert server.stop()[0] == 0
    folder = next(folder for folder in (tmp_path / "exports").iterdir() if folder.name.endswith("native"))
    assert {Path(name).name: archive.read(name) for name in archive.namelist()} == {f.name: f.read_bytes() for f in folder.iterdir()}
    rows = [json.loads(line) for line in archive.read(f"{folder.name}/train.jsonl").decode().splitlines()]
    labels = [sorted((row["context"][s["start"] : s["end"]], s["relevance"]) for s in row["spans"]) for row in rows]
    assert sorted(labels) == [[("Ada", "low"), ("Grace", "high"), ("Kent", "high")], [("Grace", "low"), ("Kent", "high")]]


def test_files_that_are_uploaded(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", RECORDS[:1], PEOPLE)
    row = json.dumps(GOOD_ROW).encode()
    hostile = "<script>alert(1)</script> ![x](http:__evil.example_i.png).jsonl"
    with served(path, "--snapshot-every", "0") as server:
        page = admin(browser, server, "Import")
        for name, content, said in (
            ("image.json", b"\x89PNG\r\n\x1a\n\xff", "not UTF-8 text"),
            ("array.json", b"[1, 2]", "no row of the file can be imported"),
            ("columns.jsonl", b'{"text": "a", "label": 1}\n', "no row of the file can be imported"),
            ("empty.jsonl", b"\n\n", "the file has no rows"),
        ):
            send(page, name, content)
            page.see_text("[data-testid=stAlert]", said)
            assert "--format" not in page.locator("[data-testid=stAlert]").first.inner_text()
        # A byte-order mark, CRLF, a name that is no name, and one row of three that is none.
        send(page, hostile, b"\xef\xbb\xbf" + row + b"\r\n" + b"{broken\r\n" + row.replace(b"Bob", b"Rob") + b"\r\n")
        page.see_text("[data-testid=stAlert]", "2 records with 2 spans are in the store; 0 were there before")
        page.see_text("[data-testid=stAlert]", "<script>alert(1)</script>")
        page.see_text("[data-testid=stAlert]", "Rows that were rejected: 1")
        rejected = download(page, page.page.locator(".piiloom-files a").first.inner_text())
        assert [(one["line"], one["row"]) for one in map(json.loads, rejected.decode().splitlines())] == [(2, "{broken")]
        page.page.get_by_role("tab", name="Work list", exact=True).click()
        page.page.get_by_role("button", name="Put into the work list").click()
        page.see_text("[data-testid=stAlert]", "2 added")
        assert page.dialogs == []
        assert not [address for address in page.asked if "evil" in address]
        page.context.close()
        assert server.stop()[0] == 0


@pytest.mark.skipif(SAMPLE is None, reason="shared/data/capid/raw_pipeline_sample.jsonl is not here")
def test_generated_records_as_they_came_out_are_imported_and_can_be_worked_on(browser, tmp_path):
    path = make_project(tmp_path / "s.duckdb", [], PEOPLE)
    with served(path, "--snapshot-every", "0") as server:
        page = admin(browser, server, "Import")
        send(page, SAMPLE.name, SAMPLE.read_bytes())
        page.see_text("[data-testid=stAlert]", "records with")
        rejected = len(download(page, page.page.locator(".piiloom-files a").first.inner_text()).splitlines())
        page.page.get_by_role("tab", name="Work list", exact=True).click()
        page.page.get_by_role("button", name="Put into the work list").click()
        page.see_text("[data-testid=stAlert]", f"{300 - rejected} added")
        page.open()
        page.context.close()
        assert server.stop()[0] == 0
    with Store.open(path, create=False) as store:
        assert count_records(store, status="imported") == 300 - rejected
