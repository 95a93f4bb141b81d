"""The table of what identifies a person, and a user's file over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.identifying import OTHER, Identifying, identifying_table, shipped_identifying
from tests.longer import case_by_case


def test_every_shipped_type_is_in_the_table_and_nothing_else() -> None:
    types, entries = shipped_taxonomy().types, shipped_identifying().entries
    assert {name for name, _ in entries} == set(types)
    assert all((name, None) in entries for name in types)
    assert all(subtype is None or subtype in {one.name for one in types[name].subtypes} for name, subtype in entries)
    assert {entry.weight for entry in entries.values()} == {1, 2, 3}
    # A direct identifier never weighs less than 2.
    assert all(entry.weight >= 2 for entry in entries.values() if entry.identifier == "direct")


@case_by_case(
    ("entity_type", "subtype", "expected"),
    [
        ("name", None, Identifying("direct", 2)),
        ("name", "full_name", Identifying("direct", 2)),
        ("name", "first_name", Identifying("quasi", 1)),
        ("PERSON", "unheard_of", Identifying("direct", 2)),
        ("code", "passport", Identifying("direct", 2)),
        ("location", "city", Identifying("quasi", 1)),
        ("location", "address", Identifying("direct", 2)),
        ("demographic", "ethnicity", Identifying("quasi", 3)),
        ("demographic", "gender", Identifying("quasi", 1)),
        ("Sexual_Orientation", None, Identifying("quasi", 3)),
        ("pet", None, OTHER),
        (None, None, OTHER),
    ],
)
def test_shipped(entity_type: str | None, subtype: str | None, expected: Identifying) -> None:
    assert identifying_table().of(entity_type, subtype) == expected


def written(folder: Path, text: str) -> Path:
    file = folder / "weights.yaml"
    file.write_text(text)
    return file


def test_a_file_changes_what_it_says_and_no_more(tmp_path: Path) -> None:
    table = identifying_table(
        written(
            tmp_path,
            """
types:
  name: {weight: 9}
  demographic:
    subtypes:
      language: {weight: 0.5}
  pet: {identifier: direct}
  PERSON: {weight: 4, subtypes: {nick: {identifier: direct}}}
""",
        )
    )
    # A weight of a type is that of all its subtypes; their kinds stay.
    assert table.of("name") == Identifying("direct", 9)
    assert table.of("name", "first_name") == Identifying("quasi", 9)
    assert (table.of("demographic").weight, table.of("demographic", "gender").weight) == (3, 1)
    assert table.of("demographic", "language") == Identifying("quasi", 0.5)
    assert table.of("pet") == Identifying("direct", 1)
    # A label of other data that the file names goes before the type that it means.
    assert table.of("PERSON") == Identifying("quasi", 4)
    assert table.of("PERSON", "nick") == Identifying("direct", 4)
    assert table.of("health") == identifying_table().of("health")
    assert identifying_table().of("name") == Identifying("direct", 2)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("types: {name: {weight: -1}}", 1, "weight"),
        ("types: {name: {weight: .inf}}", 1, "weight"),
        ("types: {name: {weight: heavy}}", 1, "weight"),
        ("types: {name: {identifier: none}}", 1, "identifier"),
        ("types:\n  name: {wieght: 1}", 2, "wieght"),
        ("types:\n  name:\n    subtypes:\n      nickname: {weight: 1}", 4, "name has no subtype 'nickname'"),
        ("types: {}", 1, "types"),
        ("name: {weight: 1}", 1, "types"),
        ("- name", 1, ""),
    ],
)
def test_a_malformed_file(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        identifying_table(written(tmp_path, text))
    assert raised.value.where == f"weights.yaml:{line}"
    assert message in raised.value.message
