"""Who is measured, where each one's environment is, and how it is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PINS = HERE / "peers.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """``driver`` runs in ``environment`` (None: the one the benchmark runs in).

    ``keeping`` are the options with which it keeps its work on disk best; they are given where that is what is tested.
    """

    name: str
    title: str
    driver: str
    environment: str | None = None
    keeping: Mapping[str, Any] = field(default_factory=dict)

    def python(self, peers: Path) -> Path:
        """The interpreter it runs under."""
        return peers / self.environment / "bin" / "python" if self.environment else Path(sys.executable)

    def missing(self, peers: Path) -> str | None:
        """Why it cannot run, and what to do; None when it can."""
        if self.python(peers).exists():
            return None
        return f"{self.title}: no environment at {peers / (self.environment or '')}; make it with --make-peers {peers}"


CONTESTANTS: tuple[Contestant, ...] = (
    Contestant(name="floor", title="bare openai SDK loop", driver="drive_floor.py"),
    Contestant(name="ours", title="piiloom", driver="drive_piiloom.py"),
    Contestant(
        name="data-designer",
        title="NeMo Data Designer",
        driver="drive_data_designer.py",
        environment="data-designer",
        keeping={"keep_every": 100},
    ),
    Contestant(name="sdg-hub", title="sdg-hub", driver="drive_sdg_hub.py", environment="sdg-hub", keeping={"keep_every": 100}),
    Contestant(name="curator", title="Bespoke Curator", driver="drive_curator.py", environment="bespokelabs-curator"),
    Contestant(name="distilabel", title="distilabel", driver="drive_distilabel.py", environment="distilabel"),
)


def choose(names: str | None) -> list[Contestant]:
    """The contestants called *names* (separated by commas; None: all); raises ``SystemExit`` for an unknown one."""
    if names is None:
        return list(CONTESTANTS)
    by_name = {contestant.name: contestant for contestant in CONTESTANTS}
    unknown = [name for name in names.split(",") if name not in by_name]
    if unknown:
        raise SystemExit(f"error: unknown contestant {', '.join(unknown)}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names.split(",")]


def start(contestant: Contestant, peers: Path, folder: Path, spec: Path) -> subprocess.Popen[bytes]:
    """Start its driver on *spec* in a process group of its own; what it prints goes to ``output.txt`` in *folder*."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "PIILOOM_"))}
    # Quiet and offline, as far as each can be: no telemetry, no hub, no price list from the network.
    environment |= {"HOME": str(home), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NEMO_TELEMETRY_ENABLED": "false"}
    if contestant.environment is None:
        environment["PYTHONPATH"] = str(ROOT)
    with (folder / "output.txt").open("ab") as output:
        command = [str(contestant.python(peers)), "-P", str(HERE / contestant.driver), str(spec)]
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        )


def versions(contestants: Sequence[Contestant], peers: Path) -> dict[str, str]:
    """Which version of itself each contestant's environment holds."""
    found: dict[str, str] = {}
    for contestant in contestants:
        package = contestant.environment or {"floor": "openai", "ours": "piiloom"}[contestant.name]
        if contestant.missing(peers) is None:
            ask = f"import importlib.metadata as m; print(m.version({package!r}))"
            done = subprocess.run([contestant.python(peers), "-c", ask], capture_output=True, text=True, check=False)
            found[contestant.name] = f"{package} {done.stdout.strip() or 'unknown'}"
    return found


def make_peers(peers: Path) -> None:
    """Make one environment a peer under *peers*, with the versions pinned in ``peers.json``; those that are there stay."""
    pins: dict[str, list[str]] = json.loads(PINS.read_text(encoding="utf-8"))
    for name, requirements in pins.items():
        folder = peers / name
        if (folder / "made").exists():
            print(f"{name}: already made")
            continue
        print(f"{name}: {' '.join(requirements)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True)
        (folder / "made").touch()
