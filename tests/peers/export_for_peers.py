"""Write records in each format, and as native rows to compare with: ``python tests/peers/export_for_peers.py OUT`` (piiloom's environment).

OUT gets a folder a format: its file ``records.*`` (or folder ``records``), and the files about the release. The records are a few
that break careless readers, and 200 of the composer.
"""

from __future__ import annotations

import sys
from pathlib import Path

from piiloom.taxonomy.entity_types import shipped_taxonomy

sys.path[:0] = [str(Path(__file__).resolve().parents[folder]) for folder in (1, 2)]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))

from tool_examples import composed_records, hard_record, marked

from piiloom.corpus.formats.base import FormatWithExtras, WriteOptions
from piiloom.corpus.formats.registry import FORMATS


def main(out: Path) -> None:
    """Write all formats to the new folder *out*."""
    out.mkdir(parents=True)
    records = [
        hard_record(),
        marked(
            "👋🏽 Hola, soy Roberto 👩‍👩‍👧 Jr de Lyon\r\n\r\nAge 34", ("Jr", "name", None, None), ("34", "age", "years", "low"), id="emoji"
        ),
        marked("Nothing personal at all.", id="empty", question="Is it?"),
        *composed_records(out, 200),
    ]
    for name, file_format in FORMATS.items():
        folder = out / name
        folder.mkdir()
        file_format.write(iter(records), folder / f"records{file_format.suffix}", WriteOptions(taxonomy=shipped_taxonomy()))
        if isinstance(file_format, FormatWithExtras):
            file_format.write_extras(folder, {"splits": {}}, shipped_taxonomy())
    print(f"{len(records)} records in {len(FORMATS)} formats")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
