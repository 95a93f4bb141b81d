"""Walk through JSON objects with the offsets of their values, and write texts as JSON literals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final, NamedTuple

from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.parts import FileChange, Parsed, TextSlot, escape_pieces, piece_changes

WantedKeys = dict[str, "WantedKeys"]
Scan = Callable[[str, int], tuple[Any, int]]
# The C scanner for strings, which also returns the end offset. The type stubs do not have it.
scanstring: Final[Callable[[str, int, bool], tuple[str, int]]] = vars(json.decoder)["scanstring"]
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_KEY: Final = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')  # a key without an escape, as nearly all are
_ESCAPE: Final = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_FAR_ESCAPE: Final = re.compile(r"\\u(?!00[0-7])")


class Hit(NamedTuple):
    """A wanted value: its dotted path, the range of its JSON source, and the parsed value."""

    path: str
    start: int
    end: int
    value: Any


def wanted_tree(paths: Iterable[str]) -> WantedKeys:
    """Return the tree of keys to look for. "note.text" means the key "text" in the object "note", or a key with a dot in its name."""
    tree: WantedKeys = {}
    for path in paths:
        tree.setdefault(path, {})
        level = tree
        for key in path.split("."):
            level = level.setdefault(key, {})
    return tree


def key_scanner(see: Callable[[str], object] | None) -> Scan:
    """Return a scanner: (text, offset) -> (value, end). *see* is called with each key of the objects inside the values."""
    if see is None:
        return _scanner(json.JSONDecoder())

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, _ in pairs:
            see(key)
        return dict(pairs)

    return _scanner(json.JSONDecoder(object_pairs_hook=hook))


def _scanner(decoder: json.JSONDecoder) -> Scan:
    scan: Scan = vars(decoder)["scan_once"]
    return scan


def blank_end(text: str, at: int) -> int:
    """Return the offset of the first character from *at* on that is no JSON white space."""
    if text[at : at + 1] > " ":
        return at
    match = _BLANK.match(text, at)
    return match.end() if match else at


def walk_object(text: str, at: int, wanted: WantedKeys, scan: Scan) -> tuple[list[Hit], list[str], int]:
    """Return the wanted values of the object at *at*, the keys that were passed, and the offset of its end.

    Raises ``ValueError`` (or a subclass), ``IndexError`` or ``RecursionError`` if the object is malformed.
    """
    hits: list[Hit] = []
    keys: list[str] = []
    return hits, keys, _through(text, at, wanted, "", scan, hits, keys)


def _through(text: str, at: int, wanted: WantedKeys, prefix: str, scan: Scan, hits: list[Hit], keys: list[str]) -> int:
    """Walk through the object at *at*; *prefix* is its path with a dot. Return the offset of its end."""
    sign = "{"
    while sign != "}":
        plain = _KEY.match(text, at + 1)
        if plain is not None:
            key, at = plain[1], plain.end()
        else:
            at = blank_end(text, at + 1)
            if sign == "{" and text[at] == "}":
                break
            key, at = _key(text, at)
        keys.append(key)
        below = wanted.get(key)
        if below and text[at] == "{":
            end = _through(text, at, below, f"{prefix}{key}.", scan, hits, keys)
        else:
            try:
                value, end = scan(text, at)
            except StopIteration as error:
                raise ValueError("a value is missing") from error
            if below is not None:
                hits.append(Hit(prefix + key, at, end, value))
        at = end
        if text[at] not in ",}":
            at = blank_end(text, at)
        sign = text[at]
        if sign not in ",}":
            raise ValueError("a comma is missing")
    return at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    """Return the key at *at*, and the offset of its value."""
    if text[at] != '"':
        raise ValueError("a key is missing")
    key, at = scanstring(text, at + 1, True)
    at = blank_end(text, at)
    if text[at] != ":":
        raise ValueError("a colon is missing")
    return key, blank_end(text, at + 1)


class JsonSlot(TextSlot):
    """A JSON string literal that holds a document's text, in the *row* with that range."""

    __slots__ = ("_row",)

    def __init__(self, hit: Hit, row: tuple[int, int]) -> None:
        super().__init__(hit.start, hit.end)
        self._row = row

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterable[FileChange]:
        """See ``TextSlot``."""
        encode = encode_basestring_ascii if self.is_ascii(parsed) else encode_basestring
        start, end = self.start + 1, self.end - 1
        pieces = escape_pieces(_ESCAPE.finditer(parsed.raw, start, end), start, end)
        return piece_changes(pieces, replaced, lambda words: encode(words)[1:-1])

    def is_ascii(self, parsed: Parsed) -> bool:
        """Whether other characters are escaped: if the literal does so, else if the row does so, else if the file is all ASCII."""
        for start, end in ((self.start, self.end), self._row):
            part = parsed.raw[start:end]
            if not part.isascii():
                return False
            if "\\" in part and _FAR_ESCAPE.search(part):
                return True
        return parsed.ascii
