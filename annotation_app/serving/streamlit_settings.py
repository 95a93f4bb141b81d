"""Streamlit's own settings for the app. They win over any ``config.toml``: what it says about looks stays, what opens doors does not."""

from __future__ import annotations

from typing import Any, Final

from streamlit import config
from streamlit.logger import set_log_level
from streamlit.runtime.pages_manager import PagesManager

# An upload is kept in memory. A record takes about a thousand characters.
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
    "server.enableCORS": True,  # the name is Streamlit's: True is the protection
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
    """Set Streamlit up for this process; before anything reads a setting of it (the secrets, the app). Harmless again.

    A folder ``pages`` beside the script would be scripts that a URL can run without ours: not so, should there ever be one.
    """
    PagesManager.uses_pages_directory = False
    for name, value in _FIXED.items():
        config.set_option(name, value, "piiloom")
    set_log_level("WARNING")
