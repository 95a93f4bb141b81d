"""Judge what a model has written as a carrier: it becomes one, or its fault is named so that the model can mend it.

What is personal beside the slots would stand in every document of a carrier, without a label.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from piiloom.detection.benchmark.carrier_orders import SIZES, CarrierOrder
from piiloom.detection.benchmark.carriers import Carrier, CarrierSlot, Length, check_slot, grows, parse_carrier, word_count
from piiloom.detection.benchmark.composing import compose
from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector
from piiloom.detection.hybrid.phases import PhaseSettings
from piiloom.detection.registry import PatternDetector
from piiloom.execution.calls import Fault
from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import derive_rng
from piiloom.providers.protocol import JsonSchema
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.language import other_language
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

SLOT: Final = "\ue000"  # stands in place of a slot: no pattern, name or word has it
_DIGITS: Final = re.compile(r"\d{5,}")  # of any script
_CHUNK: Final = 4000
# Languages in which capitals tell a name from a word, and the names index few words from names: elsewhere it takes one carrier in ten or
# more for a name that has none (measured on those that ship).
_CASED: Final = frozenset("sv pt pl fi nl no".split())
_SURE_NAME: Final = 0.8  # a known given name beside a known family name


def literal_text(text: str) -> str:
    """Return the carrier *text* with ``SLOT`` in place of each slot. Raises ``ConfigError`` for a malformed slot."""
    return "".join(part if isinstance(part, str) else SLOT for part in parse_carrier(text))


def personal_parts(literal: str, locale: str) -> Iterator[tuple[str, str]]:
    """Yield (what it is, the words) of what is, or looks, personal in a *literal* text: numbers, identifiers, and full names.

    Names are looked for in languages where rules tell them from other words; a name may go unseen elsewhere.
    """
    for match in _DIGITS.finditer(literal):
        yield "five digits or more in a row", match[0]
    for kind, (start, end) in find_identifiers(literal, locale[3:]):
        yield kind, literal[start:end]
    for what, start, end in _detected(literal, locale):
        if SLOT not in literal[start:end]:  # else a label in front has only been taken for that of the text behind the slot
            yield what, literal[start:end]


def _detected(literal: str, locale: str) -> Iterator[tuple[str, int, int]]:
    detector = _rules() if locale[:2] in _CASED else _patterns()
    for span in detector.detect(literal, locale):
        text = literal[span.start : span.end]
        named = span.subtype == "person_name" and span.score >= _SURE_NAME and not text.isupper()
        # What a pattern takes for an id without a digit in it is a word behind a label, or a heading in capitals.
        if named or ("patterns" in span.detector and any(map(str.isdigit, text))):
            yield span.subtype or span.entity_type, span.start, span.end


@lru_cache(maxsize=1)
def _patterns() -> PatternDetector:
    return PatternDetector()


@lru_cache(maxsize=1)
def _rules() -> OfflineDetector:
    return OfflineDetector(settings=PhaseSettings(patterns=_patterns(), phases=1, chunk_chars=_CHUNK))


_TRIED: Final = 3  # documents that are made of a carrier to see that it gives the wanted length
_MISSING_ENTRIES: Final = 4  # of those asked for; a carrier with a few less grows all the same
_FEWEST_WORDS: Final = 6  # of an entry on average, slots left out of account; less is a list of values, no document
_SHOWN: Final = 5
_TEXT: Final[JsonSchema] = {"type": "string"}


def reply_schema(order: CarrierOrder) -> JsonSchema:
    """The schema of the reply to *order*."""
    properties: dict[str, JsonSchema] = {"form": _TEXT, "text": _TEXT}
    if order.size.entries:
        properties = {"form": _TEXT, "opening": _TEXT, "entries": {"type": "array", "items": _TEXT}, "closing": _TEXT}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def carrier_of(data: Any, order: CarrierOrder, catalogue: LocaleCatalogue, written_by: str) -> Carrier:
    """Return the carrier that the reply *data* to *order* is. Raises ``Fault`` with what is wrong with it."""
    said = "".join(str(data["form"]).casefold().split())
    if said != "".join(order.form.casefold().split()):
        raise Fault("form", f'the form is not "{order.form}"')
    growing = bool(order.size.entries)
    carrier = Carrier(
        id=f"{order.locale}-{order.domain.lower()}-{'-'.join(order.form.split())}-w{order.number}",
        locale=order.locale,
        domain=order.domain,
        form=order.form,
        lengths=_lengths(order.length),
        opening=_tidied(data["opening"] if growing else data["text"]),
        entries=tuple(_tidied(entry) for entry in data["entries"]) if growing else (),
        closing=_tidied(data["closing"]) if growing else "",
        pace=None,
        local=False,
        file=f"{order.locale}/{order.domain.lower()}.yaml",
        checked_by=None,
        written_by=written_by,
    )
    _check_characters(carrier)
    _check_slots(carrier, order)
    _check_entries(carrier, order)
    literal = "\n".join(map(literal_text, carrier.texts()))
    _check_nothing_personal(literal, order.locale)
    _check_language(literal, order.locale)
    _check_lengths(carrier, catalogue)
    return carrier


def comparable(carrier: Carrier) -> str:
    """The words of *carrier* in which copies are alike: whatever their slots are, and each ideograph a word."""
    parts = (part if isinstance(part, str) else " slot " for text in carrier.texts() for part in parse_carrier(text))
    return "".join(f" {one} " if "\u3400" <= one <= "\u9fff" else one for one in " ".join(parts))


def _lengths(length: Length) -> tuple[Length, ...]:
    """What is long grows, so it may stop earlier as well."""
    return ("medium", "long") if length == "long" else (length,)


def _tidied(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def _check_characters(carrier: Carrier) -> None:
    for character in "".join(carrier.texts()):
        if character not in "\n\t" and unicodedata.category(character) in {"Cc", "Co", "Cs", "Cn"}:
            raise Fault("characters", f"it has the control character or unassigned code point U+{ord(character):04X}")


def _check_slots(carrier: Carrier, order: CarrierOrder) -> None:
    try:
        slots = list(carrier.slots())
    except ConfigError as error:
        raise Fault("malformed_slot", error.message) from None
    unknown = list(dict.fromkeys(slot.name for slot in slots if not _is_known(slot, order.locale)))
    if unknown:
        raise Fault("unknown_slot", f"there is no slot for {_listed(unknown)}; use only those of the lists")
    used = {slot.name for slot in slots if slot.kind == "value"}
    unused = [one.id for one in order.asked if one.id not in used]
    count, needed = len(order.asked) - len(unused), min(order.size.needed, len(order.asked))
    if count < needed:
        said = f"it uses {count} of the kinds that it is written for, and {needed} are needed"
        raise Fault("few_slots", f"{said}; it lacks {_listed(unused, len(unused))}")
    if order.look_alike and not any(slot.kind in {"look-alike", "bad"} for slot in slots):
        raise Fault("no_look_alike", "it has none of the slots that only look personal, such as {!order_number}")


def _is_known(slot: CarrierSlot, locale: str) -> bool:
    try:
        check_slot(slot, locale)
    except ConfigError:
        return False
    return True


def _check_entries(carrier: Carrier, order: CarrierOrder) -> None:
    """A growing document has about as many entries as were asked for, of some words each, no two alike."""
    wanted = order.size.entries
    if not carrier.opening:
        raise Fault("empty", "it has no opening" if wanted else "it has no text")
    if not wanted:
        return
    fewest = wanted - _MISSING_ENTRIES
    distinct = {_words_alone(entry) for entry in carrier.entries if entry and grows(entry)}
    if len(carrier.entries) < fewest or len(distinct) < len(carrier.entries):
        said = f"it has {len(distinct)} different entries, and at least {fewest} are needed"
        raise Fault("entries", f"{said}; none may be empty or come twice")
    words = sum(word_count(literal_text(entry).replace(SLOT, " "), order.locale) for entry in carrier.entries)
    if words < _FEWEST_WORDS * len(carrier.entries):
        raise Fault("entries", "the entries are hardly more than slots; each needs 25 to 60 words")


def _words_alone(entry: str) -> str:
    return " ".join(literal_text(entry).casefold().split())


def _check_nothing_personal(literal: str, locale: str) -> None:
    found = [f"{what}: {words!r}" for what, words in personal_parts(literal, locale)]
    if found:
        raise Fault("personal", f"something personal, or like it, is written out ({'; '.join(found[:_SHOWN])}); write slots for it")


def _check_language(literal: str, locale: str) -> None:
    words = " ".join(literal.replace(SLOT, " ").split())
    other = other_language(words, locale[:2])
    if other is not None:
        raise Fault("language", f"the language is {other}")


def _check_lengths(carrier: Carrier, catalogue: LocaleCatalogue) -> None:
    """Make some documents of each length."""
    for length in carrier.lengths:
        for number in range(_TRIED):
            try:
                compose(carrier, length, catalogue, derive_rng("carrier trial", carrier.id, length, number))
            except ConfigError as error:
                raise Fault("not_composed", _remedied(error.message, length)) from None


def _remedied(message: str, length: Length) -> str:
    least, most = SIZES[length].words
    return f"{message}; {least} to {most} words are wanted" if "words)" in message else message


def _listed(names: list[str], most: int = _SHOWN) -> str:
    shown: Iterator[str] = (name[:40] for name in names[:most])
    return ", ".join(f"{{{name}}}" for name in shown)
