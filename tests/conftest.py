"""For all tests: on CI the property tests take the same examples each time; a developer's run goes on exploring."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("steady")
