"""The secret key of ``piiloom surrogate run``: attacks with all published files, and where the key is kept until a run is published."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.foundation import seeding
from piiloom.foundation.seeding import secret_key
from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates.documents import Document, Mention, Placed, Replaced
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.leakage_estimate import by_pools_alone, replay
from piiloom.surrogates.settings import EngineSettings
from tests.golden.goldens import command, environment, files_of
from tests.piiloom.surrogate_runs import _own_names, fill, lines, notes, records

__all__ = ["_own_names", "fill", "notes"]

POOLS = NamePools(builtin())
GIVEN, FAMILY = ("Ann", "Maria", "Will", "Rose", "Ibrahim", "Noor"), ("Foster", "Miller", "Okafor", "Lindqvist", "Rossi")


def visits(path: Path, count: int = 60) -> list[Document]:
    """Write texts with spans to *path*, each with two people and two dates; return them as the engine takes them."""
    rng, documents, rows = random.Random(3), [], []
    for number in range(count):
        one, other = (f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}" for _ in range(2))
        first, second = f"{rng.randrange(1, 13)}/{rng.randrange(1, 29)}/{rng.randrange(1990, 2020)}", f"3/{rng.randrange(1, 29)}/2021"
        pieces = (f"Visit {number}: ", one, " came on ", first, " to see Dr. ", other, " and comes again on ", second, ".")
        text, spans = "", []
        for place, piece in enumerate(pieces):
            if place % 2:
                spans.append((len(text), len(text) + len(piece), "person" if place in {1, 5} else "date", piece))
            text += piece
        mentions = tuple(Mention(start, end, kind, original=words) for start, end, kind, words in spans)
        documents.append(Document(number, f"v{number}", text, path.name, None, mentions))
        named = {"person": "name", "date": "date"}
        rows.append({"id": f"v{number}", "text": text, "spans": [{"start": a, "end": b, "type": named[k]} for a, b, k, _ in spans]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return documents


def published(out: Path, documents: list[Document]) -> list[Replaced]:
    """What everybody can read in *out*: the new texts, and the places in them."""
    maps = [json.loads(line)["ranges"] for line in (out / "map.jsonl").read_text().splitlines()]
    found = []
    for document, record, ranges in zip(documents, records(out), maps, strict=True):
        kinds = [mention.kind for mention in document.mentions or ()]
        found.append(Replaced(record["context"], [Placed(*r, kind, "", None, "", "") for r, kind in zip(ranges, kinds, strict=True)]))
    return found


@pytest.mark.long
def test_who_has_everything_published_recovers_no_date_and_predicts_no_name(cli, tmp_path, monkeypatch):
    source = tmp_path / "visits.jsonl"
    documents = visits(source)
    key = bytes(range(100, 132))
    monkeypatch.setattr(seeding.secrets, "token_bytes", lambda count: key[:count])  # else one date in 728 is guessed by chance

    def engine_of(guess: bytes) -> Engine:
        return Engine(replace(EngineSettings(), key=guess), POOLS)

    for words, seed in (((), None), (("--seed", 7), 7)):
        out = tmp_path / f"out-{seed}"
        told = cli("surrogate", "run", source, "--spans", "--out", out, "--workers", 1, *words)
        assert (told.code, "anybody" in told.err or "everybody" in told.err) == (0, seed is not None)
        files = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file()) + told.out.encode()
        secret = secret_key(seed)
        assert not any(part in files for part in (secret, secret.hex().encode(), b"seed"))
        filled = published(out, documents)
        attacks = [replay(documents, filled, engine_of(secret_key(guess))) for guess in range(10)]
        best = max(attacks, key=lambda attack: attack.predicted)  # the names tell which seed was right
        assert (best.dates, 25 < best.candidates < 35) == (60, True)
        mean, half = by_pools_alone(documents, filled, engine_of)
        if seed is None:
            assert (attacks[7].recovered, best.recovered) == (0, 0)
            assert abs(attacks[7].share - mean) <= half
        else:
            assert best is attacks[7]
            assert best.recovered == 60
            assert best.share > 0.95 > mean + half


@pytest.mark.long
def test_a_killed_run_leaves_its_key_to_its_owner_and_is_run_again_with_the_same_bytes(cli, tmp_path):
    texts = [f"[NAME 1] wrote on [DATE] to [NAME 2] of [COMPANY], mail {number // 2}." for number in range(3000)]
    source = lines(tmp_path / "many.jsonl", texts)
    killed = command("surrogate", "run", source, "--workers", 2, "--out", "out")
    with subprocess.Popen(killed, cwd=tmp_path, env=environment(), stdout=-3, stderr=-3, start_new_session=True) as process:
        until = time.monotonic() + 120
        while not any(path.stat().st_size for path in tmp_path.glob(".out.partial-*/records.jsonl")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
    (kept,) = tmp_path.glob(".out.key-*")
    assert (stat.S_IMODE(kept.stat().st_mode), kept.stat().st_size) == (0o600, 32)
    given = {"same": 0o600, "readable": 0o644}
    for name, mode in given.items():
        copy = tmp_path / f".{name}.key-1"
        copy.write_bytes(kept.read_bytes())
        copy.chmod(mode)
    for name, workers in (("out", 2), ("same", 1), ("readable", 1)):
        assert cli("surrogate", "run", source, "--workers", workers, "--out", tmp_path / name).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.jsonl", "out", "readable", "same"]
    filled = [files_of(tmp_path / name) for name in ("out", "same", "readable")]
    assert filled[0] == filled[1]
    assert filled[0]["records.jsonl"] != filled[2]["records.jsonl"]  # a key that others may have read is not used
    made = [record["context"] for record in records(tmp_path / "out")]
    assert len(set(made)) == len(made)  # equal texts have other people


def test_the_vault_keeps_the_key(fill, notes, tmp_path):
    fill(notes, "--vault", tmp_path / "vault")
    key = bytes.fromhex(json.loads((tmp_path / "vault").read_text().splitlines()[0])["key"])
    kept = tmp_path / ".again.key-1"
    kept.write_bytes(key)
    kept.chmod(0o600)
    fill(notes, out="again")
    assert (tmp_path / "again" / "records.jsonl").read_bytes() == (tmp_path / "out" / "records.jsonl").read_bytes()


def test_a_document_has_its_dates_and_values_wherever_it_stands():
    texts = ["[NAME 1] came on 3 May 2010.", "[NAME 1] left.", "[NAME 1] came on 3 May 2010.", "[NAME 1] wrote on 4 May 2010."]

    def filled(order: list[int]) -> dict[str, list[str]]:
        documents = []
        for number, place in enumerate(order):
            text = texts[place]
            start = text.find("on ") + 3
            dates = (Mention(start, len(text) - 1, "date", original=text[start:-1]),) if start > 2 else ()
            documents.append(Document(number, str(number), text, "memory", None, (Mention(0, 8, "person", "name", "1"), *dates)))
        found: dict[str, list[str]] = {}
        for document, done in zip(documents, Engine(EngineSettings(seed=2, balance="cue"), POOLS).replace_all(documents), strict=True):
            found.setdefault(document.text, []).append(done.text.partition(" on ")[2])
        return found

    first = filled([0, 1, 2, 3])
    assert filled([3, 2, 0, 1]) == first
    assert len(set(first[texts[0]])) == 2
