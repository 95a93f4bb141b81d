"""Carriers from a user's folder, in place of those that ship or beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.detection.benchmark.carriers import Carrier, Length, read_carriers, shipped_carriers
from piiloom.foundation.errors import ConfigError, DataError, UsageError
from piiloom.taxonomy.entities.entity import Domain
from piiloom.taxonomy.entities.entity_catalogue import LOCALES


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
