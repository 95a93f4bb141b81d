"""Have any detector do one text of many that are under way, within an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Final

from piiloom.detection.asking.asking_detector import AskingDetector
from piiloom.detection.asking.session import ModelSession
from piiloom.detection.detector import Detector
from piiloom.detection.findings import BatchDetector, DetectorText, ExaminingDetector, Findings, ModelDetector

_MOST: Final = 64  # texts that a detector is given at once


class InnerDetector:
    """*detector*, open from ``open`` to ``close``.

    One that asks a model does so in the same session: one run, one budget. One that waits for others is opened and closed. All others
    work in one thread, so that the loop goes on; what has come in meanwhile is done at once by those that are faster so.
    """

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._stack = AsyncExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[DetectorText, asyncio.Future[Findings]]] = []
        self._work: asyncio.Task[None] | None = None

    @property
    def asks(self) -> bool:
        """Whether it asks in the session itself."""
        return isinstance(self._detector, AskingDetector)

    async def open(self, session: ModelSession) -> None:
        """Make it ready."""
        if isinstance(self._detector, AskingDetector):
            self._detector.share(session)
            self._stack.callback(self._detector.share, None)
        elif isinstance(self._detector, ModelDetector):
            await self._stack.enter_async_context(self._detector)
        else:
            self._pool = self._stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="detector"))

    async def close(self) -> None:
        """Let go of it."""
        if self._work is not None:
            self._work.cancel()
            self._work = None
        await self._stack.aclose()

    async def examine(self, text: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:
        """Return the findings of *text*; see ``ModelDetector`` for the rest."""
        if isinstance(self._detector, ModelDetector):
            return await self._detector.examine_async(*text, item_id=item_id, group_keys=group_keys)
        future: asyncio.Future[Findings] = asyncio.get_running_loop().create_future()
        self._waiting.append((text, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._do_all())
        return await future

    async def _do_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            texts, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            try:
                found = await loop.run_in_executor(self._pool, self._examined, [text for text, _ in texts])
            except Exception as error:  # noqa: BLE001 - each who waits gets it
                for _, future in texts:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), findings in zip(texts, found, strict=True):
                if not future.done():
                    future.set_result(findings)

    def _examined(self, texts: Sequence[DetectorText]) -> list[Findings]:
        detector = self._detector
        if isinstance(detector, BatchDetector):
            return detector.examine_batch(texts)
        if isinstance(detector, ExaminingDetector):
            return [detector.examine(*one) for one in texts]
        return [Findings(spans=detector.detect(*one)) for one in texts]
