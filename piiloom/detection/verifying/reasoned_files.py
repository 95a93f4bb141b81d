"""The files of training sets whose reasonings a model wrote: as ``piiloom export --format verifier`` makes them, and how they came about.

A folder for each split has ``verifier_1.jsonl`` and ``verifier_2.jsonl``; a row answers the same in both. ``counts.json``, which is written
last, says how many rows there are, which kinds of wrong candidates, how many reasonings came at which try, and what was left to rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.chat_rows import chat_row
from piiloom.corpus.formats.instructions import verifying
from piiloom.corpus.formats.native_rows import row_line
from piiloom.corpus.formats.verifier import COUNTS, FILES, counts_of
from piiloom.corpus.split_names import TRAIN, VALIDATION
from piiloom.detection.verifying.reasonings import HOW, Reasoned
from piiloom.foundation.whole_files import check_folder, drafted, write_folder

DEFAULTS: Final = ("T", "drop")  # what becomes of a wrong candidate that the model always takes for right


def check_place(out: Path, *, force: bool) -> None:
    """Raise ``OutputError`` if *out* is not a folder, or not empty (allowed with *force*, and after a run that was killed at writing)."""
    unfinished = out.is_dir() and {one.name for one in out.iterdir()} <= {TRAIN, VALIDATION}
    check_folder(out, force=force or unfinished)


def kept_rows(rows: Iterable[Reasoned], default: str) -> list[Reasoned]:
    """Return *rows* without wrong candidates that got T by default, if *default* is "drop"."""
    return [one for one in rows if default != "drop" or one.right == one.case.candidate.right]


def write_split(out: Path, split: str, rows: Sequence[Reasoned]) -> list[Path]:
    """Write the two files of *split*, and return their paths. Raises ``OutputError``."""
    labels, reasons = [], []
    for one in rows:
        asked, answer = one.case.asked, "T" if one.right else "F"
        said = json.dumps({"reasoning": one.reasoning, "answer": answer}, ensure_ascii=False)
        labels.append(row_line(chat_row(verifying(one.case.taxonomy, reasoned=False), asked, answer)))
        reasons.append(row_line(chat_row(verifying(one.case.taxonomy, reasoned=True), asked, said)))
    write_folder(out / split, dict(zip(FILES, (b"".join(labels), b"".join(reasons)), strict=True)))
    return [out / split / name for name in FILES]


def write_counts(out: Path, counts: Mapping[str, Any]) -> Path:
    """Write ``counts.json``: a folder that has it is complete. Raises ``OutputError``."""
    path = out / COUNTS
    with drafted(path) as file:
        file.write((json.dumps(counts, indent=2, ensure_ascii=False) + "\n").encode())
    return path


def counted_rows(kept: Sequence[Reasoned], made: Sequence[Reasoned], without: int) -> dict[str, Any]:
    """Return the counts of a split: rows and kinds as in an export, where the reasonings come from, and at which try they came.

    *made* has also those that were dropped; *without* is the number of spans that have no rows.
    """
    how = Counter(one.how for one in made)
    tries = Counter(one.replies for one in made if one.how == "by the model")
    doubtful = sum(one.right and not one.case.candidate.right for one in made)
    told = counts_of(Counter(one.case.candidate.kind for one in kept))
    answers = Counter("T" if one.right else "F" for one in kept)
    return {
        "rows": len(kept),
        "T": answers["T"],
        "F": answers["F"],
        "wrong candidates by kind": told["F by kind"],
        "reasonings": {name: how[name] for name in HOW},
        "right at try": {str(number): tries[number] for number in sorted(tries)},
        "wrong candidates taken for right": doubtful,
        "dropped": len(made) - len(kept),
        "spans without rows": without,
    }
