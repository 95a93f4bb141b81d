"""Every action by mouse in the real app (keys only where text is typed); what each left is then read in the store."""

from __future__ import annotations

import pytest

from tests.annotation_app.app_driver import launch, sync_api
from tests.annotation_app.hard_texts import MIXED, TEXTS
from tests.annotation_app.whole_passes import pass_through


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


def test_every_action_by_mouse(browser, tmp_path):
    pass_through(browser, tmp_path, "mouse", [MIXED])


@pytest.mark.long
def test_every_action_by_mouse_in_each_kind_of_text(browser, tmp_path):
    pass_through(browser, tmp_path, "mouse", TEXTS)
