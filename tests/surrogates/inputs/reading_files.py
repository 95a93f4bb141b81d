"""Reads an input in this process and writes its mirror, for tests of the formats."""

from __future__ import annotations

from pathlib import Path

from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import PartReader, documents_of
from piiloom.surrogates.inputs.source import open_source
from tests.surrogates.running_fakes import Keeping, TagEngine


def read(path: Path, **settings: object) -> list[Document]:
    """All documents of *path*."""
    from piiloom.surrogates.inputs.reading import iter_documents

    return list(iter_documents(SourceSettings(path=path, **settings)))  # type: ignore[arg-type]


def mirrored(path: Path, engine: TagEngine | None = None, **settings: object) -> tuple[bytes, list[Replaced]]:
    """The mirror of the (only) file of *path*, of text formats in UTF-8, and what its documents became."""
    engine = engine or Keeping()
    out: list[bytes] = []
    every: list[Replaced] = []
    with open_source(SourceSettings(path=path, **settings)) as source:  # type: ignore[arg-type]
        reader = PartReader(source.settings)
        ascii_only = source.files[0].path.read_bytes().isascii()
        for chunk in source.chunks():
            for part in chunk.parts:
                parsed = reader.read(part._replace(ascii=ascii_only), note_keys=True)
                replaced = [engine.replaced(document) for document in documents_of(part, parsed, len(every))]
                every += replaced
                out.append(parsed.mirrored(replaced))
        reader.close()
    return b"".join(out), every
