"""What a worker does with a chunk: detect, and make the lines that are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from piiloom.corpus.formats.json_rows import row_line
from piiloom.detection.detector import Detector
from piiloom.detection.findings import BatchDetector, ExaminingDetector, Findings, Text
from piiloom.detection.registry import make_detector
from piiloom.detection.running.chunks import Chunk
from piiloom.detection.running.documents import Refused
from piiloom.detection.running.native_lines import disjoint_spans, native_line, record_of
from piiloom.detection.running.request import WorkSettings
from piiloom.detection.running.tally import Tally
from piiloom.foundation.errors import PiiloomError, RunError
from piiloom.foundation.portable_errors import place_of_error
from piiloom.taxonomy.entities.entity_catalogue import load_catalogue
from piiloom.taxonomy.own_entities import user_file

DOCUMENT: Final = "document"  # in the line of a document that failed: its number in the input, from 1 on


class Detected(NamedTuple):
    """What was made of a chunk: lines of the native rows, of the masked ones, of what was set aside, and of documents that failed."""

    rows: bytes
    masked: bytes
    set_aside: bytes
    failed: bytes
    tally: Tally


class ChunkWriter:
    """Makes the lines of chunks from what a detector found."""

    def __init__(self, settings: WorkSettings) -> None:
        self._settings, self._mask = settings, settings.masking
        self._catalogues: dict[str, str] = {}

    def written(self, chunk: Chunk, found: Sequence[Findings]) -> Detected:
        """Return the lines of *chunk*; *found* has what was found in each of its documents."""
        rows, masked, set_aside, failed, tally = list[bytes](), list[bytes](), list[bytes](), list[bytes](), Tally()
        for number, (document, findings) in enumerate(zip(chunk.documents, found, strict=True), start=chunk.first + 1):
            for one in findings.set_aside:
                set_aside.append(row_line({"row": number, "id": document.id, **one.to_json()}))
            tally.catalogues[document.locale] = self.catalogue(document.locale)
            if findings.failed is not None:
                told = Refused(document.file, document.line, findings.failed, document.text)._asdict()
                failed.append(row_line({**told, "id": document.id, DOCUMENT: number}))
                tally.failed += 1
                tally.set_aside.update(one.reason for one in findings.set_aside)
                continue
            spans = disjoint_spans(findings.spans)
            record = record_of(document, spans)
            rows.append(native_line(record, spans))
            if self._mask is not None:
                masked.append(row_line(self._mask.row(record)))
            tally.count(document.locale, spans, len(findings.spans) - len(spans), findings.set_aside)
        return Detected(b"".join(rows), b"".join(masked), b"".join(set_aside), b"".join(failed), tally)

    def catalogue(self, locale: str) -> str:
        """Return the digest of the catalogue of *locale*; empty if the detector uses none."""
        if not self._settings.family.catalogue:
            return ""
        if locale not in self._catalogues:
            chosen = self._settings
            own = [user_file(path) for path in chosen.types]
            self._catalogues[locale] = load_catalogue(locale, own, unconfirmed=chosen.unconfirmed, also=chosen.also).digest
        return self._catalogues[locale]


def make_worker(settings: WorkSettings) -> Callable[[Chunk], Detected]:
    """Return what does chunks; the detector is made when the first one comes."""
    writer = ChunkWriter(settings)
    examine: Callable[[Sequence[Text]], list[Findings]] | None = None

    def do(chunk: Chunk) -> Detected:
        nonlocal examine
        try:
            examine = examine or examiner_of(make_detector(settings))
            return writer.written(chunk, examine([Text(one.text, one.locale, one.question) for one in chunk.documents]))
        except (PiiloomError, OSError):
            raise
        except Exception as error:
            raise failed(chunk.place, error) from error

    return do


def examiner_of(detector: Detector) -> Callable[[Sequence[Text]], list[Findings]]:
    """Return what has *detector* examine texts, in the way that suits it."""
    if isinstance(detector, BatchDetector):
        return detector.examine_batch
    if isinstance(detector, ExaminingDetector):
        return lambda texts: [detector.examine(*one) for one in texts]
    return lambda texts: [Findings(spans=detector.detect(*one)) for one in texts]


def failed(place: str, error: Exception) -> RunError:
    """Return the error for an exception that nobody expected; it quotes nothing."""
    return RunError(
        f"the detector failed ({type(error).__name__}{place_of_error(error)})",
        where=place,
        remedy="Please report this as a bug; the input can be detected without the documents named here",
    )
