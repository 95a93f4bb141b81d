"""Read the JSON in a language model's reply, however it is spelled.

Understood are code fences and prose around it, the thoughts of a model before it, single and typographic quotes, bare words, quotes
inside a string that are not escaped, raw line breaks in strings, missing and trailing commas, and a reply that ends in the middle: of that,
what is whole is kept, and nothing is completed (which is why this is no job for a library that repairs JSON: half a value would become a
value). What has to be refused is refused by who knows what should stand there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, NoReturn

_CLOSING: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_OPENER: Final = re.compile(r"[\[{]")
_BLANK: Final = re.compile(r"[\s,]*")
_COLON: Final = re.compile(r"\s*:")
_BARE: Final = re.compile(r"[^\s,:\[\]{}\"“”]+")
# What goes on with the JSON behind a string; behind a comma a text goes on with words, and JSON with a value or a key.
_ENDS: Final = re.compile(r"\s*(?:[:\]}]|\Z|,\s*(?:[\"'“‘\[{\]},]|\Z|[\w.+-]+\s*(?:[:,\]}]|\Z)))")
_FENCE: Final = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
# Marks around the thoughts of a model: DeepSeek and Qwen, Magistral, Kimi, Seed, OpenThinker, gpt-oss (whose answer comes after a mark).
_THOUGHT_NAMES: Final = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection)"
_OPENED: Final = re.compile(
    rf"\s*(?:<{_THOUGHT_NAMES}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis<\|message\|>)", re.IGNORECASE
)
_CLOSED: Final = re.compile(rf"</{_THOUGHT_NAMES}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER: Final = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?")


class JsonObject(dict[str, Any]):
    """An object with all its ``pairs``: of a key that repeats, a dictionary has the last value only."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self.pairs = tuple(pairs)
        super().__init__(self.pairs)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=JsonObject)
_DEEPEST: Final = 16
_MOST_TRIES: Final = 1000
_MOST_READ: Final = 400_000  # characters, some of them again and again: what is no JSON must not hold up a run


class LenientJson(NamedTuple):
    """The objects and lists that stand one after another in a text; ``cut_off``: the last one ends in its middle.

    ``broken`` counts objects that could not be read; what is whole within them, or within such a list, is among ``values``.
    """

    values: list[Any]
    cut_off: bool
    broken: int


class _Unreadable(Exception):
    """No JSON, not even in a lenient sense."""


class _CutOff(Exception):
    """The text ends within a value that is of no use without its end."""


def read_leniently(reply: str) -> LenientJson:
    """Return what *reply* has; no ``values`` if there is no object and no list in it."""
    text = without_thoughts(reply).strip()
    try:
        whole = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _all_in(_fenced(text))
    return LenientJson([_sound(whole)] if isinstance(whole, list | dict) else [], cut_off=False, broken=0)


def without_thoughts(reply: str) -> str:
    """Return *reply* without the thoughts before the answer; "" if it consists of thoughts only.

    Some servers strip the opening mark, so a closing one is enough, except in a reply that begins as JSON.
    """
    opened = _OPENED.match(reply)
    if opened is None and reply.lstrip().startswith(("{", "[")):
        return reply
    closed = _CLOSED.search(reply, opened.end() if opened else 0)
    return reply[closed.end() :] if closed else "" if opened else reply


def only_thoughts(reply: str) -> bool:
    """Whether *reply* has no answer."""
    return not without_thoughts(reply).strip()


def _fenced(text: str) -> str:
    """The last code block that has a bracket, or all of *text*."""
    blocks = [found.group(1) for found in _FENCE.finditer(text) if _OPENER.search(found.group(1))]
    return blocks[-1] if blocks else text


def _all_in(text: str) -> LenientJson:
    values: list[Any] = []
    cut_off, broken, tries, read = False, 0, 0, 0
    opener = _OPENER.search(text)
    while opener is not None and tries < _MOST_TRIES and read < _MOST_READ:
        tries += 1
        reader = _JsonReader(text, opener.start())
        try:
            value, at = _strictly(text, opener.start()) or (reader.value(0), reader.at)
            values.append(value)
        except _Unreadable:
            broken += opener.group() == "{"
            at = opener.end()
        except _CutOff:
            at = len(text)
        cut_off = cut_off or reader.cut_off
        read += reader.at - reader.start
        opener = _OPENER.search(text, at)
    return LenientJson(values, cut_off, broken)


def _strictly(text: str, at: int) -> tuple[Any, int] | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return _sound(value), end


class _JsonReader:
    """Reads one value from ``start`` on; ``at`` is how far it is. It is cut off if the text ends before it does."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.start, self.at = text, at, at
        self.cut_off = False

    def value(self, depth: int) -> Any:
        if self.at == len(self.text):
            self._end()
        first = self.text[self.at]
        if depth > _DEEPEST:
            raise _Unreadable
        if first == "[":
            return self._list(depth)
        if first == "{":
            return self._object(depth)
        return self._string(_CLOSING[first]) if first in _CLOSING else self._bare()

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        try:
            while not self._closes("]"):
                found.append(self.value(depth + 1))
        except _CutOff:
            self.at = len(self.text)  # those before it are whole
        return found

    def _object(self, depth: int) -> JsonObject:
        found: list[tuple[str, Any]] = []
        self.at += 1
        try:
            while not self._closes("}"):
                key = self._key()
                found.append((key, self.value(depth + 1)))
        except _CutOff:
            self.at = len(self.text)
            if depth and not any(isinstance(one, list | dict) for _, one in found):
                raise  # an entry of something, and not whole
        return JsonObject(found)

    def _closes(self, bracket: str) -> bool:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        if self.at == len(self.text):
            self._end()
        if self.text[self.at] != bracket:
            return False
        self.at += 1
        return True

    def _key(self) -> str:
        first = self.text[self.at]
        key = self._string(_CLOSING[first]) if first in _CLOSING else str(self._bare())
        if "{" in key or "}" in key:
            raise _Unreadable  # it has swallowed what stands behind a key without a colon
        colon = _COLON.match(self.text, self.at)
        if colon is None:
            if not self.text[self.at :].strip():
                self._end()
            raise _Unreadable
        self.at = colon.end()
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return key

    def _string(self, closing: str) -> str:
        """A quote ends it if what follows goes on with the JSON; others belong to it."""
        pieces: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == "\\":
                pieces.append(self._escape())
            elif character == closing and _ENDS.match(self.text, self.at):
                return _whole_characters("".join(pieces))
            else:
                pieces.append(character)
        return self._end()

    def _escape(self) -> str:
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character != "u":
            return _ESCAPES.get(character, character)
        digits = self.text[self.at : self.at + 4]
        if len(digits) < 4 or not all(one in "0123456789abcdefABCDEF" for one in digits):
            return "u"
        self.at += 4
        return chr(int(digits, 16))

    def _bare(self) -> Any:
        word = _BARE.match(self.text, self.at)
        if word is None:
            raise _Unreadable
        self.at = word.end()
        if self.at == len(self.text):
            self._end()
        said = word.group()
        if _NUMBER.fullmatch(said):
            return float(said) if "." in said else int(said)
        return _WORDS.get(said, said)

    def _end(self) -> NoReturn:
        self.cut_off = True
        raise _CutOff


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return _whole_characters(value)
    if isinstance(value, list):
        return [_sound(one) for one in value]
    if isinstance(value, JsonObject):
        return JsonObject((_whole_characters(key), _sound(one)) for key, one in value.pairs)
    return value


def _whole_characters(text: str) -> str:
    """*text* with pairs of surrogates as the characters that they are, and a half of one as U+FFFD: nothing else can be written."""
    if not any("\ud800" <= one <= "\udfff" for one in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
