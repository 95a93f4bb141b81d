"""Open our samples with presidio-evaluator: ``python tests/peers/check_presidio_evaluator.py OUT [FIXTURES]``.

``InputSample.read_dataset_json`` tokenizes with spaCy's en_core_web_sm; a blank English pipeline, made here, does as well. FIXTURES gets
the first samples as ``InputSample.to_json`` writes them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
from compared import compare, native_rows
from presidio_evaluator import InputSample

FEW = 4


def main(out: Path, fixtures: Path | None) -> None:
    """Check the export in *out*."""
    with TemporaryDirectory() as folder:
        spacy.blank("en").to_disk(folder)
        samples = InputSample.read_dataset_json(out / "presidio" / "records.json", token_model_version=folder)
    rows = native_rows(out)
    theirs = [
        (sample.full_text, [(s.start_position, s.end_position, s.entity_value, s.entity_type) for s in sample.spans]) for sample in samples
    ]
    names = [{(s["start"], s["end"]): s["type"] for s in row["spans"]} for row in rows]
    # Types are named as Presidio does; the name of ours that was written for each is in the metadata.
    kept = [{(s["start"], s["end"]): s["type"] for s in sample.metadata["piiloom"]["spans"]} for sample in samples]
    if names != kept:
        raise SystemExit("the metadata have other types")
    compare(
        rows, [(text, [(a, b, value, kind[a, b]) for a, b, value, _ in spans]) for (text, spans), kind in zip(theirs, kept, strict=True)]
    )
    labels = sorted({name for _, spans in theirs for *_, name in spans})
    tagged = sum(tag != "O" for sample in samples for tag in sample.tags)
    print(f"entity types: {', '.join(labels)}; {tagged} tokens are tagged")
    if fixtures is not None:
        InputSample.to_json(samples[:FEW], fixtures / "presidio_samples.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
