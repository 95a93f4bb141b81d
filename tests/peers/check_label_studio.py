"""Open our Label Studio tasks with label-studio-sdk: ``python tests/peers/check_label_studio.py OUT [FIXTURES]``.

Validates the labelling interface and each annotation against it, converts the tasks to JSON-MIN and compares the spans. FIXTURES gets the
first tasks as the converter writes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from compared import Row, Spans, compare, native_rows
from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface

FEW = 4


def minimal(config: str, tasks: list[Row]) -> list[Row]:
    """The tasks as the export "JSON-MIN" of the converter."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "tasks.json"
        source.write_text(json.dumps(tasks), encoding="utf-8")
        Converter(config, project_dir=folder, upload_dir=folder).convert_to_json_min(str(source), folder + "/out", is_dir=False)
        return json.loads((Path(folder) / "out" / "result.json").read_text(encoding="utf-8"))


def spans_of_minimal(row: Row) -> tuple[str, Spans]:
    """Text and spans of a row of JSON-MIN."""
    text = row["text"]
    return text, [(one["start"], one["end"], text[one["start"] : one["end"]], one["labels"][0]) for one in row.get("label", [])]


def main(out: Path, fixtures: Path | None) -> None:
    """Check the export in *out*."""
    folder = out / "label-studio"
    config = (folder / "label_config.xml").read_text(encoding="utf-8")
    tasks = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    interface = LabelInterface(config)
    interface.validate()
    for task in tasks:
        for annotation in task["annotations"]:
            if not interface.validate_annotation(annotation):
                raise SystemExit(f"task {task['id']} does not fit the labelling interface")
    print(f"{len(tasks)} tasks fit the labelling interface")
    rows = minimal(config, tasks)
    compare(native_rows(out), map(spans_of_minimal, rows))
    if fixtures is not None:
        text = json.dumps(rows[:FEW], ensure_ascii=False, indent=1)
        (fixtures / "label_studio_min.json").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
