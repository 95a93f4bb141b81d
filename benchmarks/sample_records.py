"""Records picked by seed, as Markdown with their spans marked: ``**value**`` matters (type+), ``_value_`` does not (type-).

Usage: python benchmarks/sample_records.py EXPORT.jsonl [--count 30] [--seed 30] [--texts]
docs/composer.md holds what it prints for 2,107 records of seed 7. --texts picks texts and prints one of the questions of each.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any

SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def marked(record: dict[str, Any]) -> str:
    pieces, position = [], 0
    for span in record["spans"]:
        pieces.append(escaped(record["context"][position : span["start"]]))
        around = "**" if span["relevance"] == "high" else "_"
        sign = "+" if span["relevance"] == "high" else "-"
        pieces.append(f"{around}{escaped(span['text'])}{around} ({span['type']}{sign})")
        position = span["end"]
    pieces.append(escaped(record["context"][position:]))
    return "".join(pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--texts", action="store_true", help="of each text one record")
    wanted = parser.parse_args()
    rng = random.Random(wanted.seed)
    records = [json.loads(line) for line in wanted.export.read_text(encoding="utf-8").splitlines()]
    if wanted.texts:
        rng.shuffle(records)
        records = list({record["context"]: record for record in records}.values())
    for number, record in enumerate(rng.sample(records, wanted.count), 1):
        meta = record["meta"]
        about = f"`{meta['scenario']}`" if meta.get("scenario") else f"{' and '.join(meta['pair'])}, {meta['subtopic']}"
        print(f"**{number}.** {meta['register']}, {about}\n")
        print("\n".join(f"> {line}".rstrip() for line in marked(record).split("\n")))
        print(f">\n> *{escaped(record['question'])}*\n")


if __name__ == "__main__":
    main()
