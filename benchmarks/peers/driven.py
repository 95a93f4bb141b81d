"""Runs ``measure(spec)`` of a contestant's file in the contestant's environment; only the standard library is needed here.

    python -P benchmarks/peers/driven.py FILE SPEC.json [RESULT.json]

The figures that ``measure`` gives go to RESULT.json, with the peak memory of this process.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType


def main() -> None:
    file, spec, *result = map(Path, sys.argv[1:])
    figures = _loaded(file).measure(json.loads(spec.read_text(encoding="utf-8")))
    for path in result:
        path.write_text(json.dumps({**figures, "peak_mb": _peak_mb()}), encoding="utf-8")


def _loaded(file: Path) -> ModuleType:
    # Under a name of its own: "datasketch" is the package that datasketch.py measures.
    found = importlib.util.spec_from_file_location(f"contestant_{file.stem}", file)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def _peak_mb() -> float:
    """The most resident memory, MB; of this program only, where ``ru_maxrss`` begins with that of the process that started it."""
    with Path("/proc/self/status").open(encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


if __name__ == "__main__":
    main()
