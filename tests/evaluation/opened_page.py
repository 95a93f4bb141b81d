"""A page in Chromium, from disk: what happens on it is noted, and nothing may be said, run or asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest


@dataclass
class OpenedPage:
    """A page and what happened on it: messages of the console, errors and dialogs, and what it asked for beside itself."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def opened_page(browser: Any, path: Path, **options: Any) -> Iterator[OpenedPage]:
    """The page at *path* in a context with *options*; it must say nothing, and ask for nothing but itself."""
    page = browser.new_context(**options).new_page()
    found = OpenedPage(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("dialog", lambda dialog: (found.said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: found.asked.append(asked.url))
    page.goto(path.as_uri())
    yield found
    assert found.said == []
    assert found.asked == [path.as_uri()]


def serious_violations(page: Any) -> list[tuple[str, list[str]]]:
    """What axe finds serious or critical on *page*: rules, and the first elements that break them."""
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python, which brings axe-core, is not installed")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")
    assert found["passes"]
    return [
        (each["id"], [node["html"] for node in each["nodes"]][:3])
        for each in found["violations"]
        if each["impact"] in {"serious", "critical"}
    ]
