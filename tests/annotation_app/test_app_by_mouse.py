"""Every action by mouse in the real app (keys only where text is typed); what each left is then read in the store."""

from __future__ import annotations

import pytest

from tests.annotation_app.hard_texts import MIXED, TEXTS
from tests.annotation_app.whole_passes import pass_through
from tests.longer import EXPLORE, explored


def test_every_action_by_mouse(browser, tmp_path):
    pass_through(browser, tmp_path, "mouse", [MIXED])


@explored
@pytest.mark.long
def test_every_action_by_mouse_in_other_kinds_of_text(browser, tmp_path):
    pass_through(browser, tmp_path, "mouse", TEXTS if EXPLORE else TEXTS[1::2])
