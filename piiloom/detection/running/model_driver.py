"""Have a detector that waits for a model do documents, many at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from typing import Any

from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.findings import Findings, ModelDetector
from piiloom.detection.registry import make_detector
from piiloom.detection.running.chunks import DocumentChunk, InputDocument
from piiloom.detection.running.worker import failed
from piiloom.execution.ordering import OrderedRun, StopSignal, stopped_by_ctrl_c
from piiloom.foundation.errors import Interrupted, PiiloomError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.providers.protocol import Provider

Take = Callable[[DocumentChunk, list[Findings]], object]


class ModelDriver:
    """Drives one session. ``spent_usd`` is what the model or service has cost so far."""

    def __init__(self, settings: DetectorSettings, provider: Provider | None = None) -> None:
        detector = make_detector(settings, provider=provider)
        assert isinstance(detector, ModelDetector)  # noqa: S101 - what is made for a model
        self._detector = detector
        asked = settings.asked or settings.service
        self._concurrency = asked.concurrency if asked is not None else 1
        self._stop = StopSignal()

    @property
    def spent_usd(self) -> float:
        """See the class."""
        return self._detector.totals.spent_usd

    @property
    def totals(self) -> dict[str, Any]:
        """What all sessions asked and paid, as JSON values."""
        return asdict(self._detector.totals)

    def run(self, chunks: Iterator[DocumentChunk], take: Take, told: Callable[[int], object]) -> None:
        """Do *chunks* and call *take* with each that is done, in their order; *told* with the number of documents that are done of one.

        Raises the errors that would hit every document: no key, no budget left; and ``Interrupted`` after Ctrl-C.
        """
        run_in_own_loop(lambda: self._run(chunks, take, told), on_interrupt=self._stop.request)

    async def _run(self, chunks: Iterator[DocumentChunk], take: Take, told: Callable[[int], object]) -> None:
        found: list[Findings] = []

        def consume(outcome: tuple[DocumentChunk, Findings]) -> None:
            chunk, findings = outcome
            found.append(findings)
            if len(found) == len(chunk.documents):
                take(chunk, found.copy())
                found.clear()
            else:
                told(len(found))

        async with self._detector:
            with stopped_by_ctrl_c(self._stop):
                await OrderedRun(
                    source=_one_by_one(chunks),
                    work=self._work,
                    consume=consume,
                    concurrency=self._concurrency,
                    stop=self._stop,
                ).run()
            if self._stop.requested:
                raise Interrupted("stopped at once")

    def _work(self, item: tuple[DocumentChunk, int]) -> Awaitable[tuple[DocumentChunk, Findings]]:
        chunk, at = item
        return self._examined(chunk, chunk.documents[at])

    async def _examined(self, chunk: DocumentChunk, one: InputDocument) -> tuple[DocumentChunk, Findings]:
        try:
            return chunk, await self._detector.examine_async(one.text, one.locale, one.question, item_id=one.id, group_keys=one.group_keys)
        except (PiiloomError, OSError):
            raise
        except Exception as error:
            raise failed(one.file if one.line is None else f"{one.file}:{one.line}", error) from error


def _one_by_one(chunks: Iterator[DocumentChunk]) -> Iterator[tuple[DocumentChunk, int]]:
    for chunk in chunks:
        for at in range(len(chunk.documents)):
            yield chunk, at
