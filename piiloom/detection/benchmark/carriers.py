"""The carrier texts: documents of a locale and domain with slots for values, in ``data/carriers/<locale>/<domain>.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from piiloom.detection.benchmark.plain_values import LOOK_ALIKES, MOMENTS, PLAIN, SUMS
from piiloom.detection.benchmark.slots import CarrierSlot, parse_carrier
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import FileModel, KeyPath, YamlDocument, key_name, read_document, validate_document
from piiloom.taxonomy.entities.entity import UNIVERSAL, Domain
from piiloom.taxonomy.entities.entity_catalogue import shipped_entities

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
