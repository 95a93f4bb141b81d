"""What goes over the wire: the editor's script once and for ever, and with an edit little more than the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from piiloom.annotation_app.sync import editor_data as assets
from piiloom.corpus.record import Record, Span
from tests.annotation_app.app_driver import AppPage, make_project
from tests.annotation_app.served_app import served


def test_an_edit_sends_the_record_and_not_the_editor(browser: Any, tmp_path: Path) -> None:
    record = Record(id="r1", context="Ada met Grace.", question="Who?", spans=(Span(id="s1", start=0, end=3, entity_type="name"),))
    path = make_project(tmp_path / "s.duckdb", [record], {"ana": "annotator"})
    with served(path, "--snapshot-every", "0") as server:
        page = AppPage(browser, server, "ana")
        sizes: list[int] = []
        page.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
        page.open("work")  # anew: from now on its connection is listened to
        page.see(".editor")
        page.rested()
        assert [asked for asked in page.asked if asked.endswith(assets.module_address())] == [server.url + assets.module_address()]
        del sizes[:]
        page.press("Tab", "r")
        page.saved()
        assert 0 < sum(sizes) < 40_000
        page.context.close()


@pytest.mark.long
def test_the_script_has_an_address_of_its_own_and_is_kept_by_browsers(tmp_path: Path) -> None:
    path = make_project(tmp_path / "s.duckdb", [], {"ana": "annotator"})
    assert assets.module_address() in assets.loader()
    assert len(assets.loader()) < 2_000
    with served(path, "--snapshot-every", "0") as server, server.client() as client:
        found = client.get(assets.module_address())
        assert (found.status_code, found.text) == (200, assets.module())
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["content-type"].startswith("text/javascript")
        assert client.get("/editor/0123.js").status_code == 404
