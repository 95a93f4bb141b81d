"""What a model is asked to write: so many carriers of a locale, over domains and lengths in turn, each with a handful of entities.

An order depends only on the seed, the locale, the domains and lengths asked for and its number: more documents begin with fewer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from piiloom.detection.benchmark.carriers import LENGTHS, Length, word_count
from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.entity_values.drawing import draw_entity_value, spoilt_value
from piiloom.taxonomy.entities.entity import DOMAINS, Domain, Entity
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
            "allowed": _listed(ALLOWED),
            "plain": _listed({f"={name}": means for name, means in _PLAIN.items()}),
            "look_alike": self.look_alike,
            "look_alikes": _listed({f"!{name}": means for name, means in _LOOK_ALIKES.items()} | bad),
        }


def _listed(slots: Mapping[str, str]) -> list[dict[str, str]]:
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
