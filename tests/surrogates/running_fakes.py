"""An engine that needs no names: it replaces ``[TAG]`` by something else, and checks what a run promises an engine."""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import mix, pick
from piiloom.surrogates.documents import Document, Placed, Replaced

TAG = re.compile(r"\[([A-Z]+)(?: ([0-9]+))?\]")
VALUES = ("Ann", "Zoë Müller", "Nguyễn Văn Bình", "O'Neil, Jr.", 'Bo "Red" Ek', "Lee & Sons", "Ōta 太田", "Kim")


@dataclass
class TagEngine:
    """``values`` to choose from; ``fault`` is what goes wrong at a document with ``at`` in its text."""

    values: tuple[str, ...] = VALUES
    fault: str = ""
    at: str = ""
    wait_s: float = 0.0

    def __post_init__(self) -> None:
        self._total = -1

    def scan(self, documents: Sequence[Document], chunk: int | None = None) -> bytes:
        assert chunk is None or chunk >= 0
        self._strike(documents, "scan")
        return len(documents).to_bytes(4, "big") + b"".join(document.number.to_bytes(8, "big") for document in documents)

    scan_needs_known = False
    same_values = None

    def assign(self, scans: Iterable[bytes]) -> bytes:
        if self.fault == "assign":
            return b"\0" * 8  # an engine that asks for no scan
        total = 0
        for scan in scans:
            count = int.from_bytes(scan[:4], "big")
            numbers = [int.from_bytes(scan[at : at + 8], "big") for at in range(4, len(scan), 8)]
            assert numbers == list(range(count))  # each chunk is numbered on its own
            total += count
        return total.to_bytes(8, "big")

    def load(self, assigned: bytes) -> None:
        self._total = int.from_bytes(assigned, "big")

    def replace(self, documents: Sequence[Document], chunk: int) -> list[Replaced]:
        assert self._total >= 0
        assert chunk >= 0
        self._strike(documents, "replace")
        return [self.replaced(document) for document in documents]

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        return {"tallies": dict(sorted(tallies.items()))}

    def replaced(self, document: Document) -> Replaced:
        ranges = [(m.start, m.end, m.kind) for m in document.mentions] if document.mentions is not None else self._tags(document.text)
        unknown = [m.span() for m in re.finditer(r"\{[A-Z]+\}", document.text)]
        pieces: list[str] = []
        placed: list[Placed] = []
        at = length = 0
        for number, (start, end, kind) in enumerate(ranges):
            value = pick(mix(mix(7, document.number), number), self.values)
            pieces += (document.text[at:start], value)
            new = length + start - at
            placed.append(Placed(start, end, new, new + len(value), kind, "name", "full_name" if number % 2 else None, f"v{number}", ""))
            length, at = new + len(value), end
        pieces.append(document.text[at:])
        return Replaced("".join(pieces), placed, unknown, [m.span() for m in re.finditer(r"\(\w+\)", document.text)], Counter(docs=1))

    def _tags(self, text: str) -> list[tuple[int, int, str]]:
        return [(*m.span(), "person") for m in TAG.finditer(text)]

    def _strike(self, documents: Sequence[Document], when: str) -> None:
        if self.wait_s:
            time.sleep(self.wait_s)
        if not self.fault.startswith(when) or not any(self.at in document.text for document in documents):
            return
        match self.fault.partition(" ")[2]:
            case "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            case "fails":
                raise ValueError("secret words of the text")
            case "breaks":
                raise OSError(errno.ENOSPC, "No space left on device")
            case "refuses":
                raise DataError("an unknown tag", where=next(d.id for d in documents if self.at in d.text))


class Lying(TagEngine):
    """Changes a word that it does not tell of."""

    def replaced(self, document: Document) -> Replaced:
        done = super().replaced(document)
        done.text = done.text.replace("word", "w0rd")
        return done


class Keeping(TagEngine):
    """Replaces nothing."""

    def replaced(self, document: Document) -> Replaced:
        return Replaced(document.text, [])


def kind_of(entity_type: str, subtype: str | None) -> str:
    return "person" if subtype is None else f"{entity_type}.{subtype}"


def is_tag(key: str) -> bool:
    return TAG.search(key) is not None
