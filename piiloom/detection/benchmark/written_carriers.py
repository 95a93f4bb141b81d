"""Carriers that a model writes: the orders for them, and what is judged before one becomes a carrier, so that the model can mend a fault.

What is personal beside the slots would stand in every document of a carrier, without a label.

What a model is asked to write: so many carriers of a locale, over domains and lengths in turn, each with a handful of entities.

An order depends only on the seed, the locale, the domains and lengths asked for and its number: more documents begin with fewer.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from piiloom.detection.benchmark.carriers import LENGTHS, Carrier, CarrierSlot, Length, check_slot, grows, parse_carrier, word_count
from piiloom.detection.benchmark.composing import compose
from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector
from piiloom.detection.hybrid.phases import PhaseSettings
from piiloom.detection.registry import PatternDetector
from piiloom.execution.calls import Fault
from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.entity_values.drawing import draw_entity_value, spoilt_value
from piiloom.providers.protocol import JsonSchema
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.language import other_language
from piiloom.taxonomy.entities.catalogue_file import DOMAINS, Domain, Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue

# As a model understands them; keys are the locales that carriers are written for.
LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sv_SE": "Swedish",
        "vi_VN": "Vietnamese",
        "zh_CN": "Chinese, simplified characters, as in mainland China",
        "zh_SG": "Chinese, simplified characters, as in Singapore",
        "pt_BR": "Portuguese, as in Brazil",
        "pt_PT": "Portuguese, as in Portugal",
        "pl_PL": "Polish",
        "hi_IN": "Hindi in Devanagari",
        "fi_FI": "Finnish",
        "ar_AE": "Arabic, as in the Emirates",
        "nl_NL": "Dutch, as in the Netherlands",
        "nl_BE": "Dutch, as in Flanders",
        "no_NO": "Norwegian Bokmål",
    }
)
_BRIEF_WORDS: Final = 4  # of a value that has room in a text of 20 words
_WITH_LOOK_ALIKES: Final = 3  # one order in so many asks for look-alikes
_LOOKED_AT: Final = 3  # values of an entity, to tell how many words they have
_TINY_FORMS: Final = ("text message", "note", "chat message", "form", "log line")
_SHORT_FORMS: Final[Mapping[Domain, tuple[str, ...]]] = MappingProxyType(
    {
        "Finance": ("letter", "invoice", "form", "chat", "call note", "e-mail"),
        "Travel": ("booking confirmation", "e-mail", "complaint", "itinerary", "chat", "form"),
        "Healthcare": ("discharge note", "referral", "form", "laboratory report", "chat", "letter"),
        "IT": ("ticket", "log", "e-mail", "incident report", "chat", "form"),
        "CPG": ("order confirmation", "warranty form", "complaint", "chat", "delivery note", "survey answer"),
        "Media": ("letter to the editor", "interview note", "subscription form", "e-mail", "chat", "forum post"),
    }
)
_GROWING_FORMS: Final[Mapping[Domain, tuple[str, ...]]] = MappingProxyType(
    {
        "Finance": ("account statement", "correspondence", "minutes", "case file"),
        "Travel": ("support thread", "tour log", "passenger list", "travel diary"),
        "Healthcare": ("ward notes", "patient file", "care diary", "minutes"),
        "IT": ("access log", "support thread", "change log", "minutes"),
        "CPG": ("customer service log", "delivery log", "review list", "correspondence"),
        "Media": ("newsroom chat", "interview transcript", "forum thread", "competition entries"),
    }
)
ALLOWED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "person_name": "full name of a person",
        "given_name": "given name",
        "family_name": "family name",
        "email": "e-mail address",
        "phone": "phone number",
        "address": "postal address",
    }
)
_PLAIN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date": "a date that is no birth date",
        "time": "a time of day",
        "amount": "an amount of money",
        "product": "a product",
        "media_title": "a show, paper or channel",
        "department": "a department or hospital ward",
        "number": "a number of one to four digits",
    }
)
_LOOK_ALIKES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "order_number": "number of an order",
        "invoice_number": "number of an invoice",
        "article_number": "number of an article",
        "tracking_like": "a long number of a shipment or batch",
        "version": "version of a program or form",
        "case_date": "date of an event in the past",
    }
)


@dataclass(frozen=True, slots=True)
class Size:
    """What is asked of a length: how many entities are offered and how many must be used, and how many entries a growing one has.

    ``words``: fewest and most of a document without entries, clear of the limits of its length, since values differ in their words.
    """

    offered: int
    needed: int
    entries: int
    words: tuple[int, int]


SIZES: Final[Mapping[Length, Size]] = MappingProxyType(
    {
        "tiny": Size(2, 1, 0, (6, 16)),
        "short": Size(5, 3, 0, (60, 180)),
        "medium": Size(6, 4, 12, LENGTHS["medium"]),
        "long": Size(10, 6, 20, LENGTHS["long"]),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarrierOrder:
    """One carrier to write. ``asked`` are the entities that it is for; ``spoilable`` those of them that can be faulty."""

    number: int
    locale: str
    domain: Domain
    length: Length
    form: str
    asked: tuple[Entity, ...]
    spoilable: tuple[str, ...]
    look_alike: bool
    notes: str

    @property
    def id(self) -> str:
        """The place of the order among all, as calls are named by it."""
        return f"{self.locale}-{self.domain.lower()}-{self.length}-{self.number:04d}"

    @property
    def size(self) -> Size:
        """What its length asks for."""
        return SIZES[self.length]

    def variables(self) -> dict[str, Any]:
        """What the prompt template tells."""
        least, most = self.size.words
        bad = {f"!bad:{name}": f"a faulty {next(one.name for one in self.asked if one.id == name)}" for name in self.spoilable}
        return {
            "language": LANGUAGES[self.locale],
            "locale": self.locale,
            "notes": self.notes,
            "domain": self.domain,
            "form": self.form,
            "entries": self.size.entries,
            "words": {"min": least, "max": most},
            "needed": self.size.needed,
            "entities": [{"id": one.id, "name": one.name, "native": one.native} for one in self.asked],
            "allowed": _slots_of(ALLOWED),
            "plain": _slots_of({f"={name}": means for name, means in _PLAIN.items()}),
            "look_alike": self.look_alike,
            "look_alikes": _slots_of({f"!{name}": means for name, means in _LOOK_ALIKES.items()} | bad),
        }


def _slots_of(slots: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"slot": slot, "means": means} for slot, means in slots.items()]


def carrier_orders(
    locale: str, count: int, *, domains: Sequence[Domain] = DOMAINS, lengths: Sequence[Length] = tuple(LENGTHS), seed: int
) -> Iterator[CarrierOrder]:
    """Yield *count* orders for *locale*; all entities of a domain take turns."""
    catalogue = load_catalogue(locale, unconfirmed=True)
    decks = {domain: _Deck(catalogue, domain, seed) for domain in domains}
    for number in range(count):
        turn, at = divmod(number, len(domains))
        # Along the diagonal, so that few orders, too, are of several lengths; after so many turns as lengths all pairs have been.
        domain, length = domains[at], lengths[(turn + at) % len(lengths)]
        rng = derive_rng("carrier order", seed, locale, domain, length, number)
        asked = decks[domain].take(SIZES[length].offered, brief=length == "tiny")
        yield CarrierOrder(
            number=number,
            locale=locale,
            domain=domain,
            length=length,
            form=_form(domain, length, turn // len(lengths), seed),
            asked=asked,
            spoilable=tuple(one.id for one in asked if _spoilable(one, locale, rng)),
            look_alike=(turn - at) % _WITH_LOOK_ALIKES == 0,
            notes=" ".join((catalogue.notes or "").split()),
        )


def _form(domain: Domain, length: Length, round_number: int, seed: int) -> str:
    """Forms take turns as well; which one is first, the seed says."""
    forms = _TINY_FORMS if length == "tiny" else _SHORT_FORMS[domain] if length == "short" else _GROWING_FORMS[domain]
    first = derive_rng("carrier form", seed, domain, length).randrange(len(forms))
    return forms[(first + round_number) % len(forms)]


def _spoilable(entity: Entity, locale: str, rng: random.Random) -> bool:
    try:
        spoilt_value(entity, locale, rng)
    except ConfigError:
        return False
    return True


class _Deck:
    """The entities of one domain, those of the locale and the universal ones by turns; none comes again before all had their turn."""

    def __init__(self, catalogue: LocaleCatalogue, domain: Domain, seed: int) -> None:
        fitting = [one for one in catalogue.entities.values() if domain in one.domains and one.id not in ALLOWED]
        own = [one for one in fitting if one.locale == catalogue.locale]
        self._piles = [pile for pile in (own, [one for one in fitting if one.locale != catalogue.locale]) if pile]
        for pile in self._piles:
            derive_rng("carrier deck", seed, catalogue.locale, domain).shuffle(pile)
        self._at = [0] * len(self._piles)
        self._turn = 0
        self._locale, self._seed = catalogue.locale, seed

    def take(self, count: int, *, brief: bool) -> tuple[Entity, ...]:
        """The next *count* entities, each once; *brief*: only those whose values have few words."""
        taken: dict[str, Entity] = {}
        every = sum(map(len, self._piles))
        for _ in range(2 * every):
            if len(taken) == min(count, every):
                break
            which = self._turn % len(self._piles)
            pile = self._piles[which]
            entity = pile[self._at[which] % len(pile)]
            if not brief or self._is_brief(entity):
                taken[entity.id] = entity
            self._at[which] += 1
            self._turn += 1
        return tuple(taken.values())

    def _is_brief(self, entity: Entity) -> bool:
        rng = derive_rng("carrier brief", self._seed, self._locale, entity.id)
        return max(word_count(draw_entity_value(entity, self._locale, rng), self._locale) for _ in range(_LOOKED_AT)) <= _BRIEF_WORDS


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
    if found := [f"{what}: {words!r}" for what, words in personal_parts(literal, order.locale)]:
        raise Fault("personal", f"something personal, or like it, is written out ({'; '.join(found[:_SHOWN])}); write slots for it")
    other = other_language(" ".join(literal.replace(SLOT, " ").split()), order.locale[:2])
    if other is not None:
        raise Fault("language", f"the language is {other}")
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
    distinct = {" ".join(literal_text(entry).casefold().split()) for entry in carrier.entries if entry and grows(entry)}
    if len(carrier.entries) < fewest or len(distinct) < len(carrier.entries):
        said = f"it has {len(distinct)} different entries, and at least {fewest} are needed"
        raise Fault("entries", f"{said}; none may be empty or come twice")
    words = sum(word_count(literal_text(entry).replace(SLOT, " "), order.locale) for entry in carrier.entries)
    if words < _FEWEST_WORDS * len(carrier.entries):
        raise Fault("entries", "the entries are hardly more than slots; each needs 25 to 60 words")


def _check_lengths(carrier: Carrier, catalogue: LocaleCatalogue) -> None:
    """Make some documents of each length."""
    for length in carrier.lengths:
        for number in range(_TRIED):
            try:
                compose(carrier, length, catalogue, derive_rng("carrier trial", carrier.id, length, number))
            except ConfigError as error:
                least, most = SIZES[length].words
                wanted = f"; {least} to {most} words are wanted" if "words)" in error.message else ""
                raise Fault("not_composed", error.message + wanted) from None


def _listed(names: list[str], most: int = _SHOWN) -> str:
    return ", ".join(f"{{{name[:40]}}}" for name in names[:most])
