"""Carrier texts: documents with slots for values, those that ship (``data/carriers/<locale>/<domain>.yaml``) and those of a user's folder.

``{pl_pesel}`` is a labeled value of that entity, ``{person_name@1}`` the same person wherever the 1 stands, ``{person_name@f}`` and
``{person_name@1m}`` a woman and a man, where the text says so. ``{=date}`` is no personal information, ``{!order_number}`` a look-alike
that must not be found, ``{!bad:pl_pesel}`` that id with a fault. ``{=product@1}`` is the same one wherever it stands; an index from 50 on
holds within one entry of a growing document. ``{iban:FI}`` begins with these letters. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.errors import ConfigError, DataError, UsageError
from piiloom.foundation.yaml_files import FileModel, KeyPath, YamlDocument, key_name, read_document, validate_document
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.entity_values.drawers import DRAWERS
from piiloom.pii_values.numbering.masks import fill_mask
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, Domain
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, shipped_entities

DrawPlain = Callable[[str, random.Random], str]

_DATES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sv_SE": ("%Y-%m-%d", "%-d/%-m %Y"),
        "fi_FI": ("%-d.%-m.%Y", "%d.%m.%Y"),
        "no_NO": ("%d.%m.%Y", "%-d.%-m.%Y"),
        "nl_NL": ("%d-%m-%Y", "%-d-%-m-%Y"),
        "nl_BE": ("%d/%m/%Y", "%-d/%-m/%Y"),
        "pl_PL": ("%d.%m.%Y", "%Y-%m-%d"),
        "pt_BR": ("%d/%m/%Y",),
        "pt_PT": ("%d/%m/%Y", "%d-%m-%Y"),
        "zh_CN": ("%Y年%-m月%-d日", "%Y-%m-%d"),
        "zh_SG": ("%Y年%-m月%-d日", "%d/%m/%Y"),
        "vi_VN": ("%d/%m/%Y", "%-d/%-m/%Y"),
        "hi_IN": ("%d/%m/%Y", "%d-%m-%Y"),
        "ar_AE": ("%d/%m/%Y", "%Y/%m/%d"),
    }
)


def date_form(locale: str, rng: random.Random) -> str:
    """One of the ways of writing a day in *locale*, as a format of ``strftime``."""
    return rng.choice(_DATES[locale])


def recent_day(rng: random.Random) -> date:
    """A day from a year before the reference date to half a year after it: nobody's birthday."""
    return REFERENCE_DATE + timedelta(days=rng.randint(-365, 180))


def _of_masks(*masks: str) -> DrawPlain:
    return lambda locale, rng: fill_mask(rng.choice(masks), rng)  # noqa: ARG005


MOMENTS: Final = ("date", "time", "due_date", "due_time", "case_date")  # which follow the clock of a document
# From, to, in monthly wages: what something costs; a fee or groceries; a rent or a used car.
SUMS: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {"amount": (0.02, 0.6), "price": (0.001, 0.02), "large_amount": (0.15, 1.5)}
)
PLAIN: Final[Mapping[str, DrawPlain]] = MappingProxyType(
    {
        "product": DRAWERS["product"],
        "media_title": DRAWERS["media_title"],
        "department": DRAWERS["department"],
        "number": lambda locale, rng: str(rng.randint(1, 10 ** rng.randint(1, 4) - 1)),  # noqa: ARG005
        "small_number": lambda locale, rng: str(rng.randint(1, 60)),  # noqa: ARG005 - of a bed, a shelf, a row
    }
)

LOOK_ALIKES: Final[Mapping[str, DrawPlain]] = MappingProxyType(
    {
        "order_number": _of_masks("%#########", "%########", "@@-######", "{yyyy}-######", "%###-####-####"),
        "invoice_number": _of_masks(
            "F{yyyy}-####", "{yyyy}/######", "%########", "INV-########", "{yyyy}{01|02|03|04|05|06|07|08|09|10}####"
        ),
        "article_number": _of_masks("%#######", "###.###.##", "@##-####-#", "%############"),
        "tracking_like": _of_masks("%#############", "%### #### #### ####", "@@%########", "%##########"),
        "version": _of_masks("%.#.#", "%.##.###.#", "v%.#.##", "%.#.#-beta", "%.#.#-rc%"),
    }
)


_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_SLOT: Final = re.compile(r"(=|!bad:|!|)([a-z][a-z0-9_]*)(?::([A-Z]{2}))?(?:@(\d{0,2})([fm]?))?")

OF_ONE_ENTRY: Final = 50  # slots with this index or a higher one tell of somebody else in the next entry

_GENDERS: Final[dict[str, Literal["female", "male"]]] = {"f": "female", "m": "male"}
SlotKind = Literal["value", "plain", "look-alike", "bad"]
_KINDS: Final[dict[str, SlotKind]] = {"": "value", "=": "plain", "!": "look-alike", "!bad:": "bad"}


@dataclass(frozen=True, slots=True)
class CarrierSlot:
    """A place for a value. ``name`` is the id of an entity or of a drawer. Slots with the same ``index`` tell of one value or person."""

    kind: SlotKind
    name: str
    index: int | None = None
    gender: Literal["female", "male"] | None = None
    begins: str = ""


CarrierPart = str | CarrierSlot


@lru_cache(maxsize=8192)
def parse_carrier(text: str) -> tuple[CarrierPart, ...]:
    """Split *text* into literal text and slots. Raises ``ConfigError`` that names a malformed slot."""
    parts: list[CarrierPart] = []
    literal, at = "", 0
    for found in _TOKEN.finditer(text):
        literal += text[at : found.start()]
        at = found.end()
        token = found[0]
        if token in ("{{", "}}"):
            literal += token[0]
            continue
        slot = _SLOT.fullmatch(found[1] or "")
        if slot is None:
            raise ConfigError(f"{token!r} is no slot", remedy="Write {entity_id}, {=date}, {!order_number}, {!bad:id}, or {{ for a brace")
        parts += [literal] if literal else []
        literal = ""
        index, gender = int(slot[4]) if slot[4] else None, _GENDERS[slot[5]] if slot[5] else None
        parts.append(CarrierSlot(_KINDS[slot[1]], slot[2], index, gender, slot[3] or ""))
    literal += text[at:]
    return tuple([*parts, literal] if literal else parts)


Length = Literal["tiny", "short", "medium", "long"]
Pace = Literal["minutes", "hours", "days"]
# Words: from, to (excluded), as published for the hybrid: under 21, 21 to 240, 240 to 1,000, up to 4,500.
LENGTHS: Final[dict[Length, tuple[int, int]]] = {"tiny": (1, 21), "short": (21, 240), "medium": (240, 1000), "long": (1000, 4500)}
_FEWEST_ENTRIES: Final = 6
CarrierText = Annotated[str, StringConstraints(pattern=r"\S")]


class _CarrierEntry(FileModel):
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
    form: CarrierText
    length: Length | Annotated[list[Length], Field(min_length=1)]
    text: CarrierText | None = None
    opening: str = ""
    entries: Annotated[list[CarrierText], Field(default=[])]
    closing: str = ""
    pace: Pace | None = None
    local: bool = False


class _CarrierFile(FileModel):
    locale: str
    domain: Domain
    checked_by: str | None
    written_by: str | None = None
    values: Annotated[list[str], Field(default=[])]
    documents: Annotated[list[_CarrierEntry], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """One document with slots. A growing one has ``entries``, of which as many are taken as a length asks for.

    ``pace`` is what passes between two entries, if the document says it. All places of a ``local`` one are in one city. ``checked_by`` says
    which native speaker has read the file; None: nobody has. ``written_by`` names the model that wrote it, if one did.
    """

    id: str
    locale: str
    domain: Domain
    form: str
    lengths: tuple[Length, ...]
    opening: str
    entries: tuple[str, ...]
    closing: str
    pace: Pace | None
    local: bool
    file: str
    checked_by: str | None
    written_by: str | None = None

    def texts(self) -> Iterator[str]:
        """All texts of the carrier."""
        yield from (text for text in (self.opening, *self.entries, self.closing) if text)

    def slots(self) -> Iterator[CarrierSlot]:
        """All slots of the carrier."""
        yield from (part for text in self.texts() for part in parse_carrier(text) if isinstance(part, CarrierSlot))


@cache
def shipped_carriers(locale: str) -> tuple[Carrier, ...]:
    """The carriers of *locale*; raises ``UsageError`` if there are none, ``ConfigError`` (file, line, key) for a fault in one."""
    folder = files("piiloom.detection.benchmark") / "data" / "carriers"
    known = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    if locale not in known:
        raise UsageError(f"there are no carrier texts for the locale {locale!r}", remedy=f"Known: {', '.join(known)}")
    names = sorted(entry.name for entry in (folder / locale).iterdir() if entry.name.endswith(".yaml"))
    return tuple(carrier for name in names for carrier in read_carriers(folder / locale / name))


def read_carriers(source: Traversable | Path) -> Sequence[Carrier]:
    """Read one file of carriers; raises ``ConfigError`` (file, line, key) for a fault in it."""
    document = read_document(source)
    found = validate_document(document, _CarrierFile)
    seen: set[str] = set()
    carriers = []
    for number, entry in enumerate(found.documents):
        path: KeyPath = ("documents", number)
        if entry.id in seen:
            raise _fault(document, (*path, "id"), f"the id {entry.id!r} is used twice")
        seen.add(entry.id)
        carriers.append(_carrier(document, path, found, entry, f"{found.locale}/{document.file}"))
    return carriers


def _carrier(document: YamlDocument, path: KeyPath, found: _CarrierFile, entry: _CarrierEntry, file: str) -> Carrier:
    if (entry.text is None) == (not entry.entries):
        raise _fault(document, path, "give either a text, or entries with an opening and a closing")
    if entry.entries and len(entry.entries) < _FEWEST_ENTRIES:
        raise _fault(document, (*path, "entries"), f"a growing document has at least {_FEWEST_ENTRIES} entries")
    carrier = Carrier(
        id=entry.id,
        locale=found.locale,
        domain=found.domain,
        form=entry.form,
        lengths=tuple(entry.length) if isinstance(entry.length, list) else (entry.length,),
        opening=entry.opening if entry.text is None else entry.text,
        entries=tuple(entry.entries),
        closing=entry.closing,
        pace=entry.pace,
        local=entry.local,
        file=file,
        checked_by=found.checked_by,
        written_by=found.written_by,
    )
    try:
        for slot in carrier.slots():
            check_slot(slot, found.locale)
        growing = all(map(grows, carrier.entries))
    except ConfigError as error:
        raise _fault(document, path, error.message) from None
    if not growing:
        raise _fault(document, (*path, "entries"), "an entry has no words, so the document would never grow")
    return carrier


@cache
def _known_ids(locale: str) -> frozenset[str]:
    return frozenset(entity.id for entity in shipped_entities([UNIVERSAL, locale]))


def grows(entry: str) -> bool:
    """Whether a document gets longer by *entry*."""
    return any(isinstance(part, CarrierSlot) or any(map(str.isalnum, part)) for part in parse_carrier(entry))


def check_slot(slot: CarrierSlot, locale: str) -> None:
    """Raise ``ConfigError`` if nothing in *locale* can be put into *slot*."""
    known = {"plain": (*MOMENTS, *SUMS, *PLAIN), "look-alike": ("case_date", *LOOK_ALIKES)}.get(slot.kind)
    if slot.name not in (_known_ids(locale) if known is None else known):
        what = "entity of this locale or of all" if known is None else f"{slot.kind} text"
        hint = "" if known is None else f"; known: {', '.join(known)}"
        raise ConfigError(f"there is no {what} {slot.name!r}{hint}")


def _fault(document: YamlDocument, path: KeyPath, what: str) -> ConfigError:
    return ConfigError(f"{key_name(path)}: {what}", where=document.where(path), remedy="Correct the key named here")


def word_count(text: str, locale: str) -> int:
    """The number of words of *text*; for Chinese its ideographs, at 1.6 a word, and the words in other scripts."""
    if not locale.startswith("zh"):
        return len(text.split())
    ideographs = sum("\u3400" <= c <= "\u9fff" for c in text)
    others = "".join(" " if "\u3000" <= c <= "\u9fff" or "\uff00" <= c <= "\uffef" else c for c in text)
    return round(ideographs / 1.6) + len(others.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCarriers:
    """The carriers by locale. ``digest`` changes with the files, ``written_by`` and ``unchecked`` say whose they are."""

    by_locale: Mapping[str, tuple[Carrier, ...]]
    with_shipped: bool
    digest: str
    written_by: tuple[str, ...]
    unchecked: int

    def to_json(self) -> dict[str, Any]:
        """What a benchmark tells of its carriers."""
        return {
            "carriers": sum(map(len, self.by_locale.values())),
            "with_shipped": self.with_shipped,
            "sha256": self.digest,
            "written_by": list(self.written_by),
            "unchecked": self.unchecked,
        }

    def require(self, locales: Sequence[str], domains: Sequence[Domain], lengths: Sequence[Length]) -> None:
        """Raise ``UsageError`` if a locale, or a domain or length of it that is asked for by name, has no carrier."""
        for locale in locales:
            carriers = self.by_locale.get(locale, ())
            if not carriers:
                raise UsageError(f"there are no carriers for {locale}", where="--carriers", remedy=f"It has {', '.join(self.by_locale)}")
            for domain in domains or (None,):
                for length in lengths or (None,):
                    if not any((domain in (None, one.domain)) and (length is None or length in one.lengths) for one in carriers):
                        named = " and ".join(name for name in (domain, length) if name)
                        raise UsageError(f"there are no carriers of {locale} for {named}", where="--carriers", remedy="Have some written")


def read_own_carriers(folder: Path, *, with_shipped: bool, locales: Sequence[str] = tuple(LOCALES)) -> OwnCarriers:
    """Read all YAML files of *folder* and of the folders in it, and keep the carriers of *locales*.

    Raises ``DataError`` if it has none, ``ConfigError`` (file, line, key) for a fault in one, or an id that is there already.
    """
    if not folder.is_dir():
        raise DataError("there is no such folder", where=str(folder), remedy="piiloom benchmark write makes one")
    files = sorted(path for path in folder.rglob("*.yaml") if path.is_file())
    if not files:
        raise DataError("the folder has no YAML file", where=str(folder), remedy="piiloom benchmark write makes some")
    digest, found = hashlib.sha256(), list[Carrier]()
    for path in files:
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy="Check the path") from error
        carriers = read_carriers(path)
        if carriers[0].locale not in LOCALES:
            raise ConfigError(f"unknown locale {carriers[0].locale!r}", where=str(path), remedy=f"Known: {', '.join(LOCALES)}")
        found += carriers
    written = {locale: [one for one in found if one.locale == locale] for locale in locales}
    by_locale = {
        locale: (*(shipped_carriers(locale) if with_shipped else ()), *own) for locale, own in written.items() if own or with_shipped
    }
    for carriers in by_locale.values():
        _check_ids(carriers)
    return OwnCarriers(
        by_locale=by_locale,
        with_shipped=with_shipped,
        digest=digest.hexdigest(),
        written_by=tuple(sorted({one.written_by for one in found if one.written_by})),
        unchecked=sum(one.checked_by is None for carriers in by_locale.values() for one in carriers),
    )


def _check_ids(carriers: Sequence[Carrier]) -> None:
    first: dict[str, str] = {}
    for one in carriers:
        if one.id in first:
            raise ConfigError(f"the id {one.id!r} is there already, in {first[one.id]}", where=one.file, remedy="Give it another id")
        first[one.id] = one.file
