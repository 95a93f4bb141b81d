"""A redacted question-and-answer corpus, filled and imported, is annotated for relevance in the real app."""

from __future__ import annotations

import json

from piiloom.annotation_app.serving.services import open_services
from tests.annotation_app.app_driver import AppPage, documents_in, labels, sync_api
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served

ROW = {"text": "I am [NAME 1] of [CITY], and my knee hurts. [NAME 1]", "question": "What helps the knee of [NAME 1]?"}


def test_a_filled_question_and_its_text_are_annotated(cli, browser, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW) + "\n")
    out, path = tmp_path / "filled", tmp_path / "s.duckdb"
    assert cli("surrogate", "run", tmp_path / "a.jsonl", "--question-field", "question", "--out", out, "--workers", 1).code == 0
    assert cli("import", out / "records.jsonl", "--input-format", "native", "--store", path).code == 0
    record = json.loads((out / "records.jsonl").read_text("utf-8"))
    values = [span["text"] for span in record["spans"]]
    assert values[0] in record["question"]
    services = open_services(path)
    services.accounts.add("boss", "admin", password=GOOD)
    services.close()
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "boss")
        page.page.get_by_role("button", name="Put all records into the work list").click()
        page.at(record["context"])
        sync_api.expect(page.locator(".text.question")).to_contain_text(record["question"])
        sync_api.expect(page.locator(".row .value")).to_have_text(values)
        page.press("Tab", "r", "Tab", "r", "r")
        page.saved()
        page.context.close()
        assert server.stop()[0] == 0
    ((_, document),) = documents_in(path).items()
    assert [value for value, _, _ in labels(document)] == values
    assert {relevance for _, _, relevance in labels(document)[:2]} == {"high", "low"}
