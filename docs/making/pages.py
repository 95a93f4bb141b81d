"""Which files are made from the code, and by what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from docs.making.api_page import api_page
from docs.making.entities_page import entities_page
from docs.making.picture import picture
from docs.making.schema_page import schema_page
from docs.making.settings_page import settings_page
from docs.making.voices_page import voices_page

ROOT = Path(__file__).parents[2]
MADE: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "docs/settings.md": settings_page,
        "docs/schema.md": schema_page,
        "docs/api.md": api_page,
        "docs/entities.md": entities_page,
        "docs/voices.md": voices_page,
        "docs/images/one-text-two-questions.svg": picture,
    }
)
