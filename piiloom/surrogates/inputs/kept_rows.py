"""Rows that were read, for the next reading of the same input in the same process."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from piiloom.surrogates.inputs.parts import Parsed, Part
from piiloom.surrogates.inputs.settings import InputSettings

_ROOM: Final = 16_000_000  # characters; the texts in them are those of the documents, of which the engine keeps as many
_PER_KEY: Final = 100  # a key of JSON that was met takes as much as so many characters
Key = tuple[str, int, int, int, int]


class KeptRows:
    """Parts as they were read. What does not fit is not kept, and read again.

    Files that are converted or unpacked first are not kept, either: each reading of an input may have its own copy of them.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._parsed: dict[Key, Parsed] = {}
        self._size = self._room = room
        self._settings: InputSettings | None = None

    def begin(self, settings: InputSettings) -> None:
        """Be told how parts are read from now on. What was read in another way is forgotten."""
        how = replace(settings, look_at_key=None)  # it changes only what is noted of the keys
        if how != self._settings:
            self._parsed.clear()
            self._room, self._settings = self._size, how

    def put(self, key: Key | None, parsed: Parsed) -> None:
        """Keep *parsed*, which is what the part with *key* held when that was told, if there is room."""
        size = len(parsed.raw) + _PER_KEY * len(parsed.met)
        if key is not None and size < self._room:
            self._room -= size
            self._parsed[key] = parsed

    def get(self, key: Key | None, *, again: bool) -> Parsed | None:
        """Return what is kept of a part, None if there is nothing. It stays if the part is to be read *again*."""
        if key is None:
            return None
        return self._parsed.get(key) if again else self._parsed.pop(key, None)


def key_of(part: Part) -> Key | None:
    """Return what tells *part* from all others, and from what stands there when its file is changed; None if it is not to be kept."""
    file = part.file
    if file.archive or file.encoding != "utf-8":
        return None
    try:
        status = file.path.stat()
    except OSError:  # told by whoever reads the part
        return None
    return str(file.path), part.start, part.end, status.st_size, status.st_mtime_ns
