"""Values behind a label ("Patient: …"), where the label is a context word of a catalogue entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from piiloom.detection.hybrid.asked_types import AskedTypes
from piiloom.detection.hybrid.offline.finding import Finding
from piiloom.taxonomy.entities.entity import Entity

FINDER: Final = "labels"
SCORE: Final = 0.7
_LABEL: Final = re.compile(r"([^\n:：;|\t•(（,，。.]{1,48}?)\.?[ \t]*(?:[:：]|(?<=\s)[-–—]|=)[ \t]*(?=[^\s/])")
_VALUE_END: Final = re.compile(r"[\n;；|\t•。!?！？]|[.](?=\s|$)|\s[-–—]\s|\s{3}|[(（]")
_COMMA: Final = re.compile(r"[,，、،]")
_TOKEN: Final = re.compile(r"[^\s,;，；]+")
_LONGEST: Final = {"address": 140}
_LONGEST_VALUE: Final = 60
_WORDS_OF_A_NAME: Final = 6
_ONE_TOKEN: Final = frozenset({"username", "password", "social_handle"})
_WITH_COMMAS: Final = frozenset({"address"})
_CLOSING: Final = " \t.,;:，；、\"'”’»)"


class Label(NamedTuple):
    """A context word, and what it announces; None: something that patterns find."""

    phrase: str
    entity: Entity | None


def labels_of(asked: AskedTypes) -> tuple[Label, ...]:
    """The labels of a catalogue, the longest first; for equal ones, an entity with the higher priority first."""
    entries = [(phrase, entity.id in asked.entities, entity) for entity in asked.catalogue.entities.values() for phrase in entity.context]
    entries.sort(key=lambda entry: (-len(entry[0]), not entry[1], -entry[2].priority, entry[2].id))
    return tuple(Label(phrase, entity if is_asked else None) for phrase, is_asked, entity in entries)


class LabelReader:
    """Reads values behind labels. ``names``: ids under which values look like names."""

    def __init__(self, asked: AskedTypes) -> None:
        self._labels = labels_of(asked)
        self._known: dict[str, Entity | None] = {}

    def read(self, text: str) -> Iterator[Finding]:
        """Yield the values behind labels in *text*."""
        for match in _LABEL.finditer(text):
            entity = self._announced(match[1].strip().lower())
            if entity is None:
                continue
            start, end = _value(text, match.end(), entity)
            if _plausible(text[start:end], entity):
                yield Finding(start, end, entity.id, SCORE, FINDER)

    def _announced(self, label: str) -> Entity | None:
        """The entity that *label* announces: that of the longest context word in it; None if patterns find that, or there is none."""
        if label not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            found = next((one for one in self._labels if _begins_word(label, one.phrase)), None)
            self._known[label] = found.entity if found is not None else None
        return self._known[label]


def _begins_word(label: str, phrase: str) -> bool:
    at = label.find(phrase)
    while at > 0 and label[at - 1].isalnum() and phrase[0] < "\u2e80":
        at = label.find(phrase, at + 1)
    return at >= 0


def _value(text: str, start: int, entity: Entity) -> tuple[int, int]:
    if entity.id in _ONE_TOKEN:
        token = _TOKEN.match(text, start)
        return start, token.end() if token else start
    limit = min(len(text), start + _LONGEST.get(entity.id, _LONGEST_VALUE))
    found = _VALUE_END.search(text, start, limit)
    end = found.start() if found else limit if limit == len(text) else _last_space(text, start, limit)
    if entity.id not in _WITH_COMMAS and (comma := _COMMA.search(text, start, end)):
        end = comma.start()
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
    while start < end and text[start] in "\"'“«„ \t*_":
        start += 1
    return start, end


def _last_space(text: str, start: int, limit: int) -> int:
    at = text.rfind(" ", start, limit)
    return at if at > start else limit


def _plausible(value: str, entity: Entity) -> bool:
    if not value or not any(map(str.isalpha, value)):
        return bool(value) and entity.id in _ONE_TOKEN
    words = value.split()
    if entity.entity_type == "name" and entity.id not in _ONE_TOKEN:
        return len(words) <= _WORDS_OF_A_NAME and not any(map(str.isdigit, value)) and not value[0].islower()
    if entity.id == "address":
        return any(map(str.isdigit, value)) or len(words) > 1
    return len(words) <= 8
