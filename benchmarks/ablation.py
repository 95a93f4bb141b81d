"""What each part of texts from scenarios adds: the probe trained on runs that leave one part out.

Usage: python benchmarks/ablation.py TEST.jsonl … [--samples 2107] [--seed 7] [--only NAME …]
Prints a Markdown table. Each row is a run of the same size and seed with one thing less; "transfer" trains on three
quarters of the scenarios in all registers but two and tests on the other scenarios in those two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import yaml

VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "without personas": {"composer": {"personas": False}},
    "without registers": {"registers": ["plain statement"]},
    "without distractors": {"composer": {"distractors": False}},
    "one scenario a pair": {"composer": {"scenarios_per_pair": 1}},
    "100 draws of values": {"composer": {"value_draws": 100}},
}
UNSEEN_REGISTERS = ("chat message", "voice to text")
UNSEEN_SHARE = 4  # every fourth scenario


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "piiloom", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def made(folder: Path, settings: dict[str, Any], samples: int, seed: int) -> Path:
    folder.mkdir()
    config, store = folder / "run.yaml", str(folder / "s.duckdb")
    config.write_text(yaml.safe_dump({"recipe": "staged", **settings, "samples": samples, "seed": seed}), encoding="utf-8")
    run("generate", "--config", str(config), "--store", store, "--quiet")
    run("release", "--name", "all", "--test-size", "0", "--store", store)
    run("export", "--release", "all", "--format", "native", "--out", str(folder / "out"), "--store", store)
    return folder / "out" / "train.jsonl"


def split_unseen(full: Path, folder: Path) -> tuple[Path, Path]:
    train, test = folder / "seen.jsonl", folder / "unseen.jsonl"
    with full.open(encoding="utf-8") as rows, train.open("w", encoding="utf-8") as seen, test.open("w", encoding="utf-8") as unseen:
        for row in rows:
            meta = json.loads(row)["meta"]
            held_out = zlib.crc32(meta["scenario"].encode()) % UNSEEN_SHARE == 0
            other = meta["register"] in UNSEEN_REGISTERS
            if held_out and other:
                unseen.write(row)
            elif not held_out and not other:
                seen.write(row)
    return train, test


def probed(train: Path, tests: list[Path]) -> list[dict[str, Any]]:
    answer = json.loads(run("probe", str(train), *map(str, tests), "--json"))
    return answer["trainings"][0]["tests"]


def row(name: str, results: list[dict[str, Any]]) -> str:
    cells = [f"{r['span_f1_exact']:.3f} | {r['span_f1_overlap']:.3f} | {r['rel_balanced']:.3f}" for r in results]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="+", type=Path)
    parser.add_argument("--samples", type=int, default=2107)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=[*VARIANTS, "transfer"])
    wanted = parser.parse_args()
    print("| run | " + " | ".join(f"{t.name}: exact | overlap | relevance" for t in wanted.tests) + " |")
    print("|---|" + "---|" * 3 * len(wanted.tests))
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for variant in (v for v in VARIANTS if v in wanted.only):
            train = made(root / variant.replace(" ", "_"), VARIANTS[variant], wanted.samples, wanted.seed)
            print(row(variant, probed(train, wanted.tests)), flush=True)
        if "transfer" in wanted.only:
            folder = root / "transfer"
            train, test = split_unseen(made(folder, {}, wanted.samples * 3, wanted.seed), folder)
            result = probed(train, [test])[0]
            print(f"\ntransfer to unseen scenarios and registers: {row('', [result])}", flush=True)


if __name__ == "__main__":
    main()
