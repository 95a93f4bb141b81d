"""piiloom: synthetic, context-aware PII datasets in which every span is exact.

From Python: ``generate``, ``import_file``, ``release``, ``export``, ``load``, ``report``, ``probe``, ``surrogate`` (see ``piiloom.api``).
From a shell: ``piiloom --help``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if not (Path(__file__).parent / "foundation").is_dir():  # a checkout whose links did not survive: a ZIP archive, Windows
    __path__.append(str(Path(__file__).parents[1]))

if TYPE_CHECKING:
    from piiloom.api import RunOptions, SurrogateOptions, export, generate, import_file, load, probe, release, report, surrogate
    from piiloom.foundation.errors import PiiloomError

__version__ = "0.1.0"
__all__ = [
    "PiiloomError",
    "RunOptions",
    "SurrogateOptions",
    "__version__",
    "export",
    "generate",
    "import_file",
    "load",
    "probe",
    "release",
    "report",
    "surrogate",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: ``import piiloom`` and ``piiloom --help`` stay quick."""
    if name == "PiiloomError":
        from piiloom.foundation.errors import PiiloomError

        return PiiloomError
    if name in __all__:
        from piiloom import api

        return getattr(api, name)
    raise AttributeError(f"module 'piiloom' has no attribute {name!r}")
