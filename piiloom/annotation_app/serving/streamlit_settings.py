"""Streamlit settings that the app enforces over any ``config.toml``. Its theme is kept; settings that weaken security are not."""

from __future__ import annotations

from typing import Any, Final

from streamlit import config
from streamlit.logger import set_log_level
from streamlit.runtime.pages_manager import PagesManager

# Uploads are kept in memory. A record takes about a thousand characters.
MOST_UPLOADED_MB: Final = 100

_FIXED: Final[dict[str, Any]] = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",  # a traceback could quote a record
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    "global.developmentMode": False,
    "runner.magicEnabled": False,
    "runner.postScriptGC": False,  # a full collection after each run took as long as the run
    "server.baseUrlPath": "",
    "server.corsAllowedOrigins": [],
    "server.enableAgentApi": False,
    "server.enableCORS": True,  # despite the name, True turns the protection on
    "server.enableStaticServing": False,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
    "server.headless": True,
    "server.maxUploadSize": MOST_UPLOADED_MB,
    "server.runOnSave": False,
    "server.showEmailPrompt": False,
    "server.trustedUserHeaders": {},
    "server.xsrfCookieSameSite": "strict",
}


def apply_settings() -> None:
    """Configure Streamlit for this process. Call it before anything reads a setting; calling it again is harmless.

    It also turns off Streamlit's folder ``pages``: a URL could run scripts in it without running ours. There is no such folder now.
    """
    PagesManager.uses_pages_directory = False
    for name, value in _FIXED.items():
        config.set_option(name, value, "piiloom")
    set_log_level("WARNING")
