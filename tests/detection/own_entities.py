"""A small catalogue for tests of running: nothing else looks like its values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stdnum.iso7064 import mod_37_36

from piiloom.taxonomy.entities import entity_catalogue

OWN = r"""
locale: universal
language: en
entities:
  test_member:
    name: membership number
    native: membership number
    domains: [Travel]
    structured: true
    type: code
    identifier: direct
    sensitivity: 2
    priority: 90
    patterns: [{pattern: 'ZZ\d{4}[0-9A-Z]', score: 0.9}]
    validator: stdnum:iso7064.mod_37_36
    source: none, for tests
    confirmed: true
  test_nick:
    name: nickname
    native: nickname
    domains: [Media]
    structured: true
    type: name
    identifier: quasi
    sensitivity: 1
    priority: 50
    patterns: [{pattern: 'nick_[a-zż]{2,9}', score: 0.7}]
    source: none, for tests
    confirmed: true
  test_animal:
    name: animal
    native: animal
    domains: [Media]
    structured: false
    type: name
    identifier: quasi
    sensitivity: 1
    priority: 40
    source: none, for tests
    confirmed: true
"""


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the catalogue."""
    path = tmp_path_factory.mktemp("own") / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def only_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave what ships out of the catalogue: to read and compile it takes a second."""
    monkeypatch.setattr(entity_catalogue, "_shipped_names", dict)


def member(number: int) -> str:
    """A membership number with the right last sign."""
    head = f"ZZ{number:04d}"
    return head + str(mod_37_36.calc_check_digit(head))


def text_of(number: int) -> str:
    """A text with a member and a nickname, some signs of it outside of ASCII and of the BMP."""
    return f"Żółw 🐢 {number}: card {member(number)}, called nick_{'abcdefghij'[number % 10]}ż; ZZ0000! {'and so on, ' * (number % 7)}bye."


def write_texts(path: Path, count: int) -> Path:
    """Write a JSONL file of *count* texts."""
    rows = ({"id": f"d{number}", "text": text_of(number), "locale": "pl_PL"} for number in range(count))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
