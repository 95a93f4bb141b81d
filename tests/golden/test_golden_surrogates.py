"""Goldens of surrogates: records, offset maps and mirrors of six small corpora (our own texts), and a run that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from tests.golden.goldens import DATA, check, command, environment, files_of, piiloom

pytestmark = pytest.mark.golden

# Lessons as of TSCC, discharge summaries as of MIMIC-III, e-mails, complaints as of the CFPB, notes in nested fields, Dutch rulings.
CORPORA: dict[str, tuple[object, ...]] = {
    "chat": ("--locale", "en_GB"),
    "clinical.csv": ("--text-field", "TEXT", "--id-field", "ROW_ID"),
    "mails.json": ("--text-field", "body"),
    "complaints.tsv": ("--text-field", "Consumer complaint narrative", "--id-field", "Complaint ID"),
    "nested.jsonl": ("--text-field", "note.text", "--text-field", "note.plan_text", "--id-field", "meta.key"),
    "rulings": ("--locale", "nl_NL"),
}


def compared(folder):
    """The files of a run but for its report."""
    return {name: data for name, data in files_of(folder).items() if not name.startswith("report.")}


@pytest.mark.parametrize("name", CORPORA)
def test_records_maps_and_mirrors(name, tmp_path):
    for workers in (1, 2):
        out = tmp_path / f"by-{workers}"
        words = ("surrogate", "run", DATA / "corpora" / name, *CORPORA[name], "--out", out, "--seed", 11, "--workers", workers)
        piiloom(tmp_path, *words)
        check(f"surrogates-{name.partition('.')[0]}", compared(out))


def test_a_killed_run_is_run_again_with_the_same_bytes(tmp_path):
    mails = [mail["body"] for mail in json.loads((DATA / "corpora" / "mails.json").read_text())]
    source = tmp_path / "many.jsonl"
    source.write_text("".join(json.dumps({"id": f"n{n}", "text": mails[n % len(mails)]}) + "\n" for n in range(4000)))
    words = ("surrogate", "run", source, "--seed", 11)
    piiloom(tmp_path, *words, "--workers", 1, "--out", "whole")
    killed = command(*words, "--workers", 2, "--out", "killed")
    with subprocess.Popen(killed, cwd=tmp_path, env=environment(), stdout=-3, stderr=-3, start_new_session=True) as process:
        until = time.monotonic() + 120
        while not any(tmp_path.glob(".killed.partial-*/records.jsonl")):  # seconds before the end, while workers replace
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
    assert not (tmp_path / "killed").exists()
    piiloom(tmp_path, *words, "--workers", 2, "--out", "killed")
    whole = compared(tmp_path / "whole")
    assert compared(tmp_path / "killed") == whole
    check("surrogates-many", {name: "\n".join(data.decode().split("\n")[:40]).encode() for name, data in whole.items()})
