"""For all tests: property tests take the same examples each time, unless PIILOOM_EXPLORE is set: then they look for new ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
if not os.environ.get("PIILOOM_EXPLORE"):
    settings.load_profile("steady")
