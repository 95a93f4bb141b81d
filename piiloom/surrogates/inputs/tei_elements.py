"""Elements of TEI that say what their text is: ``persName``, ``placeName``, ``date`` … With ``--spans`` their texts are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from piiloom.foundation.words import trimmed
from piiloom.surrogates.inputs.given_spans import GivenSpans, mentions_of
from piiloom.surrogates.inputs.parts import KindOf
from piiloom.surrogates.inputs.xml_standoff import Tag, attributes_of

# Element -> the type that ``kind_of`` is asked for. "": the element's attribute ``type`` says it.
_TYPES: Final[Mapping[str, str]] = {
    "persName": "name",
    "forename": "name",
    "surname": "name",
    "placeName": "location",
    "geogName": "location",
    "settlement": "CITY",
    "district": "location",
    "region": "location",
    "country": "COUNTRY",
    "orgName": "organization",
    "date": "datetime",
    "birth": "DATE_OF_BIRTH",
    "age": "age",
    "occupation": "occupation",
    "nationality": "NATIONALITY",
    "address": "ADDRESS",
    "email": "EMAIL",
    "idno": "code",
    "name": "",
    "rs": "",
}
_BY_ATTRIBUTE: Final[Mapping[str, str]] = {"person": "name", "place": "location", "org": "organization", "date": "datetime"}
_ROOTS: Final = frozenset({"TEI", "TEI.2", "teiCorpus"})


def is_tei(tags: Sequence[Tag]) -> bool:
    """Whether a file with these *tags* is TEI."""
    return bool(tags) and tags[0].name in _ROOTS


def tei_mentions(raw: str, text: str, tags: Sequence[Tag], kind_of: KindOf) -> GivenSpans:
    """Return the texts of the outermost elements that say what they are, as mentions."""
    spans: list[dict[str, object]] = []
    inside: tuple[str, int, str] | None = None  # name, start and type of the element that is open
    depth = 0
    for tag in tags:
        if inside is None:
            kind = _type_of(raw, tag) if tag.shape == "open" else None
            if kind:
                inside, depth = (tag.name, tag.at, kind), 1
        elif tag.name == inside[0]:
            depth += {"open": 1, "close": -1}.get(tag.shape, 0)
            if not depth:
                start, end = trimmed(text, inside[1], tag.at)
                if start < end:
                    spans.append({"start": start, "end": end, "type": inside[2]})
                inside = None
    return mentions_of(spans, text, kind_of)


def _type_of(raw: str, tag: Tag) -> str | None:
    kind = _TYPES.get(tag.name)
    if kind != "":
        return kind
    told = attributes_of(raw, tag).get("type")
    if told is None:
        return "name" if tag.name == "name" else None
    return _BY_ATTRIBUTE.get(told.value, told.value)
