"""piiloom: synthetic, context-aware PII datasets in which every span is exact.

From Python: ``generate``, ``import_file``, ``release``, ``export``, ``load``, ``records``, ``report``, ``probe``, ``evaluate``,
``compare``, ``surrogate``, ``detect``, ``detect_files``, ``train_encoder`` (see ``piiloom.api``).
From a shell: ``piiloom --help``.
"""

from __future__ import annotations

from piiloom.foundation.version import __version__

TYPE_CHECKING = False  # as in ``typing``, which takes longer to load than all else here: whoever presses Ctrl-C meanwhile gets a traceback

if TYPE_CHECKING:
    from typing import Any

    from piiloom.api import (
        compare,
        detect,
        detect_files,
        evaluate,
        export,
        generate,
        import_file,
        load,
        probe,
        records,
        release,
        report,
        surrogate,
        train_encoder,
    )
    from piiloom.foundation.errors import PiiloomError

__all__ = [
    "PiiloomError",
    "__version__",
    "compare",
    "detect",
    "detect_files",
    "evaluate",
    "export",
    "generate",
    "import_file",
    "load",
    "probe",
    "records",
    "release",
    "report",
    "surrogate",
    "train_encoder",
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


def __dir__() -> list[str]:
    """List the public names, which are imported when they are asked for."""
    return __all__
