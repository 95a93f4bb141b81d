"""What ``piiloom surrogate run`` leaves on the disk: vault, earlier runs, equal bytes; and ``check``, which proves it."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter

import pytest

from tests.piiloom.surrogate_runs import FIRST, PARTS, SECOND, TAG, _own_names, fill, lines, notes, refused

__all__ = ["_own_names", "fill", "notes", "refused"]


@pytest.mark.parametrize("place", ["mirror/a.txt", "records.jsonl", "map.jsonl"])
def test_check_finds_what_was_changed_afterwards(cli, fill, notes, tmp_path, place):
    fill(notes)
    told = json.loads(cli("surrogate", "check", tmp_path / "out", notes, "--json").out)
    assert told == {"documents": 2, "ranges": 10, "same": len(FIRST + SECOND) - sum(map(len, TAG.findall(FIRST + SECOND)))}
    file = tmp_path / "out" / place
    file.write_text(file.read_text().replace("Dear", "Deer").replace("[[5,", "[[6,"))
    outcome = cli("surrogate", "check", tmp_path / "out", notes)
    assert outcome.code == 1
    assert re.match(r"(mirror/a\.txt|records\.jsonl|map\.jsonl):1: ", outcome.error_line())


@pytest.mark.long
def test_a_vault_is_for_its_owner_only_and_warned_about(cli, notes, tmp_path):
    vault = tmp_path / "apart" / "vault.jsonl"
    vault.parent.mkdir(mode=0o700)
    old = os.umask(0)
    try:
        outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--vault", vault, "--workers", 2)
    finally:
        os.umask(old)
    assert outcome.code == 0
    assert outcome.err.startswith(f"warning: {vault} will hold what was redacted")
    assert "The vault undoes the surrogates" in outcome.err
    assert stat.S_IMODE(vault.stat().st_mode) == 0o600
    rows = [json.loads(line) for line in vault.read_text().splitlines()]
    assert "[NAME 1]" in json.dumps(rows)
    # report.html shows samples before and after; nothing else has what stood in the text.
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.name != "report.html"]
    assert not [path for path in files if b"[NAME 1]" in path.read_bytes()]


def test_nothing_tells_the_placeholders_places_apart_without_a_vault(fill, notes, tmp_path):
    fill(notes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "out"]


def test_force_replaces_an_earlier_run_and_nothing_else(cli, fill, notes, tmp_path):
    fill(notes)
    words = ("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1, "--seed", 8)
    before = (tmp_path / "out" / "records.jsonl").read_bytes()
    refused = cli(*words)
    assert refused.code == 2
    assert "--force" in refused.error_line()
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == before
    assert cli(*words, "--force").code == 0
    assert (tmp_path / "out" / "records.jsonl").read_bytes() != before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    foreign = cli("surrogate", "run", notes, "--out", tmp_path / "mine", "--force")
    assert foreign.code == 2
    assert "no earlier run" in foreign.error_line()
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


@pytest.mark.long
def test_same_seed_same_bytes_for_any_number_of_workers(cli, tmp_path):
    source = lines(tmp_path / "a.jsonl", [f"{SECOND}{number}" for number in range(60)])
    for workers in (1, 2, "auto"):
        words = ("surrogate", "run", source, "--out", tmp_path / f"w{workers}", "--workers", workers, "--seed", 11)
        assert cli(*words).code == 0
    for name in (*PARTS, "mirror/a.jsonl"):
        assert len({(tmp_path / f"w{workers}" / name).read_bytes() for workers in (1, 2, "auto")}) == 1, name
    assert cli("surrogate", "run", source, "--out", tmp_path / "other", "--workers", 1, "--seed", 12).code == 0
    assert (tmp_path / "other" / "records.jsonl").read_bytes() != (tmp_path / "w1" / "records.jsonl").read_bytes()


def test_records_state_the_groups_of_people_for_evaluation(cli, tmp_path):
    source, out = tmp_path / "talks.jsonl", tmp_path / "out"
    text = "<TUTOR>: Hello <STUDENT>, how is <PARENT>?"
    source.write_text("".join(f"{json.dumps({'id': f't{number}', 'text': text})}\n" for number in range(20)))
    cli("surrogate", "run", str(source), "--out", str(out), "--locale", "en_US", "--person-groups")
    rows = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    roles = json.loads((out / "report.json").read_text())["engine"]["people"]["roles"]
    assert list(roles) == ["tutor", "student", "parent"]
    for role, told in roles.items():
        groups = Counter(group for row in rows for group in row["meta"]["person_groups"][role])
        assert told == {"people": 20, "groups": dict(groups), "largest_difference": 0, "gender_told_by_text": {"open": 20}}
        assert set(groups.values()) == {2}
    figures = json.loads(cli("evaluate", str(out / "records.jsonl"), str(out / "records.jsonl"), "--by", "student", "--json").out)
    assert set(figures["groups"]["figures"]) == set(roles["student"]["groups"])
