from __future__ import annotations

import re
from pathlib import Path

from piiloom.foundation.words import counted
from tests.longer import case_by_case

ROOT = Path(__file__).parents[2]
# A number in braces and a noun that is always plural, as in "1 records".
ALWAYS_MANY = re.compile(
    r"\{[^{}]*:,\} (records|runs|rows|calls|documents|spans|people|replies|requests|retries|prompts|bytes|rules|scenarios|frames)\b"
    r"(?! (are|have|wait|form|were|may))"
)


@case_by_case(
    ("number", "noun", "said"),
    [
        (1, "record", "1 record"),
        (0, "record", "0 records"),
        (1234, "reply", "1,234 replies"),
        (2, "batch", "2 batches"),
        (2, "person", "2 people"),
        (1, "accepted record", "1 accepted record"),
        (2, "last reply", "2 last replies"),
        (3, "day", "3 days"),
        (2, "loss", "2 losses"),
    ],
)
def test_one_is_no_plural(number, noun, said):
    assert counted(number, noun) == said


def test_no_command_says_one_records():
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "piiloom" / "cli").glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if ALWAYS_MANY.search(line)
    ]
    assert found == []
