"""Run surrogates over an input of any size. The same seed gives the same bytes for any number of workers and any chunk size.

Memory grows with the input only by a few bytes per person, chunk and file. Digests of ids are on disk, eight bytes per document. A row,
or a whole .txt or .xml file, is held in memory with its record and mirror: about ten times its size, plus 1.3 kB per placeholder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.surrogates.inputs.settings import InputSettings
from piiloom.surrogates.inputs.source import Source
from piiloom.surrogates.outputs.folder import MAP, MIRROR, RECORDS, REPORT, TOOL, OutputFolder
from piiloom.surrogates.outputs.mirrors import MirrorFolder
from piiloom.surrogates.outputs.tallies import Tally, most_common
from piiloom.surrogates.outputs.vault import VaultFile
from piiloom.surrogates.running_counts import Counts
from piiloom.surrogates.running_crew import OwnHands, ProcessCrew
from piiloom.surrogates.running_hand import Hand
from piiloom.surrogates.running_ids import IdLedger
from piiloom.surrogates.running_progress import Phase, Progress, RunReport
from piiloom.surrogates.running_work import ChunkCount, ChunkFill, Crew, Factory, IdBook, Job, Terms

SCHEMA: Final = 1
Watch = Callable[[Progress], None]


def run_surrogates(
    inputs: InputSettings,
    out: Path,
    factory: Factory,
    *,
    seed: int,
    locale: str = "en_US",
    workers: int | Literal["ray"] = 1,
    progress: Watch | None = None,
    force: bool = False,
    vault: Path | None = None,
    about: Mapping[str, object] | None = None,
    ray_address: str | None = None,
    beside: Callable[[Path], object] | None = None,
) -> RunReport:
    """Fill all documents of the input and write the folder *out*, which appears only when it is complete.

    *factory* makes the engine in each process and must be picklable. *force* allows replacing an earlier run's folder. *vault* is a
    file for the originals. *about* goes into the report (settings, versions), and must be the same for equal runs. *beside* is called
    with the unpublished folder and may add files to it. Raises ``UsageError``, ``DataError``, ``OutputError`` or ``RunError``. On any
    error, including Ctrl-C, no partial output stays behind.
    """
    if workers != "ray" and workers < 1:
        raise UsageError("at least one worker is needed", where="--workers")
    terms = Terms(factory=factory, inputs=inputs, locale=locale, vault=vault is not None)
    with ExitStack() as stack:
        with held_interrupts():  # else Ctrl-C could come after the folder is made and before its removal is registered
            folder = stack.enter_context(OutputFolder(out, inputs.path, force=force))
            vault_file = stack.enter_context(VaultFile(vault, out, inputs.path)) if vault is not None else None
        run = _Run(terms, folder.partial, progress or _nobody, stack)
        run.prepare()
        run.start(workers, ray_address)
        run.count()
        run.look()
        run.fill(vault_file)
        report = run.write_report(seed, about or {})
        warnings = [*report["warnings"], *(vault_file.warnings() if vault_file is not None else [])]
        run.end()
        if beside is not None:
            beside(folder.partial)
        if vault_file is not None:
            vault_file.publish()
        folder.publish()
    run.tell("done", run.tally.documents, run.tally.documents)
    done = run.tally
    return RunReport(out=out, documents=done.documents, replaced=done.replaced, report=report, warnings=tuple(warnings), vault=vault)


def _nobody(progress: Progress) -> None:
    del progress


class _Run:
    """The steps of one run, in the order in which they are called."""

    def __init__(self, terms: Terms, partial: Path, watch: Watch, stack: ExitStack) -> None:
        self._terms, self._partial, self._watch, self._stack = terms, partial, watch, stack
        self._spool = partial / "spool"
        self._spool.mkdir()
        self._source = Source(terms.inputs, self._spool)
        self._counts = Counts()
        self._hand = Hand(terms)
        self._crew: Crew = OwnHands(self._hand)
        self._ids: IdBook | None = None
        self._repeated = 0
        self._gathered = self._spool / "gathered"
        self.tally = Tally()

    def tell(self, phase: Phase, done: int, total: int) -> None:
        self._watch(Progress(phase=phase, done=done, total=total, replaced=self.tally.replaced))

    def prepare(self) -> None:
        self.tell("preparing", 0, 0)
        self._source.prepare()
        self._stack.callback(self._hand.close)

    def start(self, workers: int | Literal["ray"], ray_address: str | None) -> None:
        if workers == "ray":
            from piiloom.surrogates.running_ray import RayCrew  # noqa: PLC0415 - Ray is an extra

            self._crew = RayCrew(self._terms, address=ray_address)
        elif workers > 1:
            self._crew = ProcessCrew(self._terms, workers)
        self._stack.callback(self._crew.close)

    def count(self) -> None:
        ledger = IdLedger(self._spool)
        self._stack.callback(ledger.close)
        chunks = _Remembered(self._source.chunks())
        done, total = 0, self._source.size
        for count in self._crew.run(Job("count", chunk) for chunk in chunks):
            assert isinstance(count, ChunkCount)  # noqa: S101 - the result of a job "count"
            chunk = chunks.next_done()
            ledger.add(count.ids, sum(part.documents for part in count.parts), count.tildes)
            self._counts.add(chunk, count.parts)
            done += sum(part.end - part.start for part in chunk.parts)
            self.tell("counting", min(done, total), total)
        self._counts.check(self._source)
        self._ids, self._repeated = ledger.book(self._counts.documents)

    def _jobs(self, task: Literal["look", "fill"], chunks: Iterator[Any]) -> Iterator[Job]:
        gathered = self._gathered if task == "fill" else None
        for chunk, first in chunks:
            yield Job(task, chunk, first, self._ids, gathered)

    def look(self) -> None:
        chunks = _Remembered(self._counts.placed(self._source))
        total = self._counts.documents

        def looks() -> Iterator[bytes]:
            for look in self._crew.run(self._jobs("look", iter(chunks))):
                self.tell("looking", chunks.next_done()[1], total)
                yield look

        all_looks = looks()
        gathered = self._hand.work.gather(all_looks)
        for _ in all_looks:  # an engine's ``gather`` may not have consumed all looks
            pass
        self._gathered.write_bytes(gathered)

    def fill(self, vault: VaultFile | None) -> None:
        chunks = _Remembered(self._counts.placed(self._source))
        mirrors = MirrorFolder(self._partial / MIRROR, self._source.archives)
        self._stack.callback(mirrors.abandon)
        with (self._partial / RECORDS).open("xb") as records, (self._partial / MAP).open("xb") as maps:
            for filled in self._crew.run(self._jobs("fill", iter(chunks))):
                chunk, _ = chunks.next_done()
                _write(filled, records, maps, vault)
                for part, data in zip(chunk.parts, filled.mirrors, strict=True):
                    mirrors.write(part, data)
                self.tally.add(filled.tally)
                self.tell("filling", self.tally.documents, self._counts.documents)
        mirrors.close()

    def write_report(self, seed: int, about: Mapping[str, object]) -> dict[str, Any]:
        tally, source = self.tally, self._source
        warnings = self._counts.warnings(source)
        if self._repeated:
            warnings.append(f"documents with the id of an earlier one, which got another: {self._repeated}")
        if tally.unknown:
            warnings.append(f"places that look like placeholders of an unknown meaning: {sum(tally.unknown.values())}")
        report: dict[str, Any] = {
            "schema": SCHEMA,
            "tool": TOOL,
            "version": version("piiloom"),
            "seed": seed,
            "locale": self._terms.locale,
            "about": dict(about),
            "input": {"name": self._terms.inputs.path.resolve().name, "settings": self._terms.inputs.to_json(), "skipped": source.skipped},
            "documents": tally.documents,
            "repeated_ids": self._repeated,
            "replaced": {"total": tally.replaced, "by_kind": tally.by_kind(), "by_type": tally.by_type()},
            "unknown": {"total": sum(tally.unknown.values()), "tags": most_common(tally.unknown)},
            "left_alone": {"total": sum(tally.left.values()), "brackets": most_common(tally.left)},
            "warnings": warnings,
            "engine": self._hand.work.report(tally.engine),
            "files": self._counts.file_rows(source),
        }
        text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        (self._partial / REPORT).write_text(text, encoding="utf-8", newline="\n")
        return report

    def end(self) -> None:
        """Stop the workers and remove the spool folder."""
        self._hand.close()
        self._crew.close()
        shutil.rmtree(self._spool)


class _Remembered:
    """An iterator that queues the items it has yielded until ``next_done`` pops them. The queue is short: a crew takes few jobs ahead."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items
        self._open: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self._open.append(item)
            yield item

    def next_done(self) -> Any:
        return self._open.pop(0)


def _write(filled: ChunkFill, records: BinaryIO, maps: BinaryIO, vault: VaultFile | None) -> None:
    records.write(filled.records)
    maps.write(filled.maps)
    if vault is not None:
        vault.write(filled.vault)
