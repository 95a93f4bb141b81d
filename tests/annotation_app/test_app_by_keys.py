"""Every action by keys alone in the real app, on texts that are hard to count; what each left is then read in the store."""

from __future__ import annotations

import pytest

from tests.annotation_app.hard_texts import MIXED, TEXTS
from tests.annotation_app.whole_passes import pass_through
from tests.longer import EXPLORE


def test_every_action_by_keys(browser, tmp_path):
    pass_through(browser, tmp_path, "keys", [MIXED])


@pytest.mark.long
def test_every_action_by_keys_in_other_kinds_of_text(browser, tmp_path):
    usual = [text for text in TEXTS if text.name == "hebrew"]  # what is odd in the others is in MIXED, too
    pass_through(browser, tmp_path, "keys", TEXTS if EXPLORE else usual)
