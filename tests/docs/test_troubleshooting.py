"""docs/troubleshooting.md quotes messages as the code has them."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.docs.pages import ROOT
from tests.foundation.test_house import SOURCES

# Parsing all code takes seconds.
pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = [message for cell in re.findall(r"^\| (`.+?`) \| ", PAGE, re.MULTILINE) for message in re.findall(r"`([^`]+)`", cell)]
# A message that is mostly put together from names would be like any other.
FEWEST_LETTERS = 12


def _pattern(text: str) -> str:
    """A regular expression for *text*, in which ``…`` stands for anything."""
    return ".*".join(re.escape(part) for part in text.split("…"))


@cache
def _texts() -> tuple[str, ...]:
    """All texts of the code, ``…`` standing for what is filled in."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values))
    return tuple({text for text in found if len(text.replace("…", "")) >= FEWEST_LETTERS and len(text) < 300})


def _is_said(message: str) -> bool:
    """Whether a text of the code is *message*, begins with it, or becomes it once filled in."""
    wanted = re.compile(_pattern(message))
    return any(
        wanted.search(text) or (all(part in message for part in text.split("…")) and re.fullmatch(_pattern(text), message))
        for text in _texts()
    )


def test_the_page_has_messages():
    assert len(MESSAGES) > 40


def test_the_code_has_the_messages():
    assert [message for message in MESSAGES if not _is_said(message)] == []


def test_a_message_that_the_code_has_not_is_found_out():
    assert not _is_said("the store is upside down")
