"""Values behind a label ("Patient: …"), where the label has a context word of a catalogue entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import regex

from piiloom.detection.hybrid.asked_types import AskedTypes
from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.patterns.writing import fold_text, write_pattern
from piiloom.taxonomy.entities.entity import Entity

FINDER: Final = "labels"
SCORE: Final = 0.7
_LABEL: Final = re.compile(r"([^\n:：;；|\t•(（,，。.=]{1,48}?)\.?[ \t]*([:：=]|(?<=\s)[-–—])[ \t]*(?=[^\s/])")
_VALUE_END: Final = re.compile(r"[\n;；|\t•。।!?！？؟]|[.](?=\s|$)|\s[-–—]\s|\s{3}|[(（]|\s\S{1,20}=")
_COMMA: Final = re.compile(r"[,，、،]")
_QUOTED: Final = re.compile(r'"([^"\n]{1,80})"')
_TOKEN: Final = re.compile(r"[^\s,;，；]+")
_LONGEST: Final = 60
_LONGEST_ADDRESS: Final = 140
_SHORT: Final = 4  # a context word as short as this stands for a whole word, a longer one for the beginning of one
_WORDS_OF_A_NAME: Final = 6
_WORDS_OF_AN_UNCASED_NAME: Final = 4  # nothing else tells a name from a sentence
_WORDS: Final = 8
_ONE_TOKEN: Final = frozenset({"username", "password", "social_handle"})
_ADDRESS: Final = "address"
_CLOSING: Final = " \t.,;:，；、\"'”’»)"
_KNOWN: Final = 10_000


class _Label(NamedTuple):
    """A context word, and what it announces; None: something that patterns find by its shape."""

    phrase: str
    entity: Entity | None


class LabelReader:
    """Reads values behind labels. A value of a structured entity has the shape that the catalogue gives it."""

    def __init__(self, asked: AskedTypes) -> None:
        self._labels = _labels_of(asked)
        self._shapes = {one.id: _shapes_of(one) for one in asked.entities.values() if one.structured}
        self._known: dict[str, Entity | None] = {}

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the values behind labels in *text*."""
        folded = fold_text(text).text
        for match in _LABEL.finditer(text):
            entity = self._announced(match[1].strip().lower())
            if entity is None:
                continue
            at = match.end()
            if entity.id in self._shapes:
                shaped = (one.match(folded, at) for one in self._shapes[entity.id])
                start, end = next((found.span(1) for found in shaped if found), (at, at))
            else:
                start, end = _value(text, at, entity, match[2] == "=")
            if start < end and (entity.structured or _plausible(text[start:end], entity)):
                yield RuleFinding(start, end, entity.id, SCORE, FINDER)

    def _announced(self, label: str) -> Entity | None:
        """The entity that *label* announces: that of the longest context word in it; None if patterns find that, or there is none."""
        if label not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            found = next((one for one in self._labels if _has(label, one.phrase)), None)
            self._known[label] = found.entity if found is not None else None
        return self._known[label]


def _labels_of(asked: AskedTypes) -> tuple[_Label, ...]:
    """The context words of a catalogue, the longest first; of equal ones, that of the entity with the higher priority first."""
    entries = [(phrase, entity) for entity in asked.catalogue.entities.values() for phrase in entity.context]
    entries.sort(key=lambda entry: (-len(entry[0]), entry[1].id not in asked.entities, -entry[1].priority, entry[1].id))
    return tuple(_Label(phrase, asked.entities.get(entity.id)) for phrase, entity in entries)


def _shapes_of(entity: Entity) -> Sequence[regex.Pattern[str]]:
    """The patterns of *entity* without the labels that the catalogue asks for."""
    return [regex.compile(write_pattern(replace(one, preceded_by=())).exact, regex.V1) for one in entity.patterns]


def _has(label: str, phrase: str) -> bool:
    """Whether *phrase* begins a word of *label*; a short one is a whole word."""
    at = label.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        begins = not at or not label[at - 1].isalnum() or phrase[0] >= "\u2e80"
        whole = end == len(label) or not label[end].isalpha() or len(phrase) > _SHORT or phrase[-1] >= "\u2e80"
        if begins and whole:
            return True
        at = label.find(phrase, at + 1)
    return False


def _value(text: str, start: int, entity: Entity, assigned: bool) -> tuple[int, int]:
    """Where the value is that begins at *start*; *assigned*: behind "=", where it is one word or in quotes."""
    if quoted := _QUOTED.match(text, start):
        return quoted.span(1)
    if assigned or entity.id in _ONE_TOKEN:
        token = _TOKEN.match(text, start)
        return start, token.end() if token else start
    limit = min(len(text), start + (_LONGEST_ADDRESS if entity.id == _ADDRESS else _LONGEST))
    found = _VALUE_END.search(text, start, limit)
    end = found.start() if found else limit if limit == len(text) else max(text.rfind(" ", start, limit), start)
    if entity.id != _ADDRESS and (comma := _COMMA.search(text, start, end)):
        end = comma.start()
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
    while start < end and text[start] in "\"'“«„ \t*_":
        start += 1
    return start, end


def _plausible(value: str, entity: Entity) -> bool:
    if entity.id in _ONE_TOKEN:
        return True
    words = value.split()
    if not any(map(str.isalpha, value)) or len(words) > _WORDS:
        return entity.id == _ADDRESS and any(map(str.isalpha, value))
    if entity.entity_type == "name":
        cased = value[0].upper() != value[0].lower()
        most = _WORDS_OF_A_NAME if cased else _WORDS_OF_AN_UNCASED_NAME
        return len(words) <= most and not any(map(str.isdigit, value)) and not value[0].islower()
    return entity.id != _ADDRESS or len(words) > 1
