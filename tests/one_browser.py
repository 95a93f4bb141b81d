"""Headless Chromium for the tests that want a browser: one in each process of pytest, launched for the first of them."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# The headless shell takes half the processor time of the whole browser, which also draws windows that nobody sees.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "/usr/bin/chromium"
# No process for a GPU that there is not, and no animations: a tenth less of the processor.
_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-software-rasterizer"),
    *("--force-prefers-reduced-motion", "--disable-background-networking"),
)


def launch(playwright: Any) -> Any:
    """A headless Chromium of *playwright*."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))


class OneBrowser:
    """The browser of this process. Playwright's loop runs as long as it is open, so tests with a loop of their own need it closed."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._browser: Any = None

    def opened(self) -> Any:
        """The browser; the test is skipped where there is none."""
        if self._browser is None:
            sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
            if not Path(CHROMIUM).exists():
                pytest.skip("Chromium is not installed")
            playwright = self._held.enter_context(sync_api.sync_playwright())
            self._browser = launch(playwright)
            self._held.callback(self._browser.close)
        return self._browser

    def tidied(self) -> None:
        """Close the pages and cookies that a test left open: the next one sees none of them."""
        for context in self._browser.contexts:
            context.close()

    def close(self) -> None:
        """Close it, if it is open."""
        self._browser = None
        self._held.close()
