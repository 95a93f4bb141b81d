"""Rows that are kept from one reading to the next are those of a reading from anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.surrogates.inputs.parts import PLACEHOLDER_KEYS, Parsed, SourceSettings
from piiloom.surrogates.inputs.reading import KeptRows, PartReader, documents_of
from piiloom.surrogates.inputs.source import open_source
from tests.surrogates.running_fakes import TagEngine, is_tag

ROWS = {
    "a.jsonl": '{"id": "1", "text": "[NAME] met Zo\\u00eb"}\n{"text": "She saw [NAME]"}\n',
    "b.json": '[{"text": "[NAME] said so"}, {"text": "and [NAME]"}]',
    "c.csv": 'id,text\n1,"[NAME], who"\n2,[NAME]\n',
    "d.txt": "[NAME] and [NAME] is not in a row\n",
}


def twice(path: Path, room: int) -> tuple[list[Parsed], list[Parsed], list[bytes]]:
    """What two readings of *path* gave, the second of which knows that the file is ASCII, and the mirrors that the second gave."""
    settings = SourceSettings(path=path, chunk_bytes=40, text_fields=() if path.suffix == ".txt" else ("text",))
    engine = TagEngine(values=("Zoë", "Ann"))
    with open_source(settings) as source:
        reader = PartReader(settings, KeptRows(room))
        parts = [part for chunk in source.chunks() for part in chunk.parts]
        first = [reader.read(part, note_keys=True) for part in parts]
        parts = [part._replace(ascii=True) for part in parts]
        second = [reader.read(part) for part in parts]
        done = [[engine.replaced(one) for one in documents_of(part, parsed, 0)] for part, parsed in zip(parts, second, strict=True)]
        return first, second, [parsed.mirrored(one) for parsed, one in zip(second, done, strict=True)]


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_are_kept_give_the_same_mirror(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(ROWS[name], encoding="utf-8")
    plain = twice(path, 0)
    kept = twice(path, 1000)
    assert kept[2] == plain[2]
    assert ("Zoë".encode() in b"".join(kept[2])) == (path.suffix not in {".json", ".jsonl"})  # else escaped, as the file is all ASCII
    assert all(one is not other for one, other in zip(*plain[:2], strict=True))
    same = [one is other for one, other in zip(*kept[:2], strict=True)]
    assert all(same) if name != "d.txt" else not any(same)


def test_there_is_room_for_some_rows_only(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(ROWS["a.jsonl"])
    first_row = ROWS["a.jsonl"].splitlines(keepends=True)[0]
    first, second, _ = twice(path, len(first_row) + 2 * 100 + 1)  # its keys take room, too
    assert first[0].raw == first_row
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, False]


def test_rows_are_let_go_at_their_last_reading_and_when_the_file_or_the_way_of_reading_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n')
    settings, kept = SourceSettings(path=path), KeptRows()

    def read(settings: SourceSettings = settings, *, again: bool = True) -> Parsed:
        with open_source(settings) as source:
            return PartReader(settings, kept).read(next(source.chunks()).parts[0], again=again)

    first = read()
    assert read() is first
    assert read(again=False) is first
    second = read()
    assert second is not first
    assert read(replace(settings, look_at_key=is_tag)) is second
    other = read(replace(settings, text_fields=("n",)))
    assert other is not second
    assert read() is not second
    path.write_text('{"text": "b"}\n')
    assert [one.text for one in read().found] == ["b"]


def test_keys_of_kept_rows_are_noted_as_those_of_rows_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    rows = (
        ['{"text": "a"}'] * 3
        + ['{"[NAME]": 1, "n": [{"of [CITY]": {"[NAME]": 2}}], "text": "a"}'] * 4
        + ['{"text": "", "n": {"[AGE]": 0}}']
    )
    path.write_text("[" + ",\n".join(rows) + "]")
    looking = SourceSettings(path=path, look_at_key=is_tag)
    kept = KeptRows()
    with open_source(looking) as source:
        part = next(source.chunks()).parts[0]
        PartReader(SourceSettings(path=path), kept).read(part)
        again = PartReader(looking, kept)
        found = [reader.read(part, note_keys=True).notes for reader in (again, PartReader(looking))]
        assert again.read(part).notes == found[0]  # noted once
    assert found[0] == found[1]
    assert (found[0].counts[PLACEHOLDER_KEYS], found[0].first[PLACEHOLDER_KEYS]) == (13, 3)
