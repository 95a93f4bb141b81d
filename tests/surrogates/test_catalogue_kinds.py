"""What detectors find by the entity catalogue gets surrogates by it."""

from __future__ import annotations

import json
from datetime import date

from stdnum.pl import pesel

from piiloom.api import detect_files, surrogate
from piiloom.surrogates.kinds.kind import KINDS, Draw
from piiloom.surrogates.placeholders.reading import kind_of_span


def drawn(kind: str, original: str, seed: int = 5) -> str:
    return KINDS[kind].draw(Draw(seed, "PL", "pl", date(2026, 1, 1), 0, original=original))


def test_an_id_is_another_valid_one_written_alike() -> None:
    kind = kind_of_span("code", "pl_pesel")
    value = drawn(kind, "44051401359")
    assert pesel.is_valid(value)
    assert value != "44051401359"
    assert value == drawn(kind, "44051401359")
    assert value != drawn(kind, "44051401359", seed=6)
    assert len(drawn("entity:pl_nip", "526-000-12-46").split("-")) == 4


def test_what_agrees_with_a_person_keeps_its_own_kind() -> None:
    assert kind_of_span("name", "given_name") == "person"
    assert kind_of_span("code", "pl_phone") == "phone"
    assert kind_of_span("code", "no_such_entity") == "id_number"


def test_from_detection_to_surrogates(tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"id": "a", "context": "PESEL: 44051401359, mail: jan@example.org"}) + "\n", encoding="utf-8")
    detect_files(source, out=tmp_path / "found.jsonl", locale="pl_PL")
    surrogate(tmp_path / "found.jsonl", out=tmp_path / "out", spans=True, text_field=["context"], seed=3)
    (row,) = (json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8").splitlines())
    assert "44051401359" not in row["context"]
    assert pesel.is_valid(row["context"][7:18])
