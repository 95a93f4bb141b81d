"""The settings of a benchmark, and of carriers that a model writes. Imports nothing heavy, so that ``--help`` is quick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Self

from pydantic import ValidationInfo, field_validator, model_validator

from piiloom.detection.detector_settings import ModelSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Converted, Settings, setting
from piiloom.providers.model_calls import CALLS, MODEL
from piiloom.taxonomy.entities.catalogue_file import DOMAINS, Domain

# Documents of each locale in the published benchmark of the hybrid, in the order of LOCALES.
PUBLISHED: Final = (150, 150, 105, 45, 110, 45, 150, 150, 150, 150, 105, 45, 150)


PERTURBATIONS: Final = ("spacing", "case", "transliteration", "ocr", "digits")


class TextKinds(Settings):
    """The locales, domains and lengths of documents; all of them where none is named. Raises ``UsageError`` for an unknown name."""

    locales: Converted[tuple[str, ...], Sequence[str]] = setting(
        (), "Only this locale, as pl_PL. May be repeated.", flags="--locale", metavar="CODE"
    )
    domains: Converted[tuple[Domain, ...], Sequence[str]] = setting((), "Only this domain. May be repeated.", flags="--domain")
    lengths: Converted[tuple[Literal["tiny", "short", "medium", "long"], ...], Sequence[str]] = setting(
        (), "Only this length: tiny (under 21 words), short (to 240), medium (to 1,000) or long (to 4,500).", flags="--length"
    )

    @field_validator("locales", mode="before")
    @classmethod
    def _known_locales(cls, given: Sequence[str]) -> tuple[str, ...]:
        from piiloom.taxonomy.entities.entity_catalogue import LOCALES
        from piiloom.taxonomy.locales import resolve_locale

        return tuple(dict.fromkeys(resolve_locale(code, LOCALES) for code in given)) or tuple(LOCALES)

    @field_validator("domains", "lengths", "perturbations", mode="before", check_fields=False)
    @classmethod
    def _known_names(cls, given: Sequence[str], info: ValidationInfo) -> tuple[str, ...]:
        known = _names()[info.field_name or ""]
        for name in given:
            if name not in known:
                raise UsageError(
                    f"unknown name {name!r}", where=cls.option_name(info.field_name or ""), remedy=f"Known: {', '.join(known)}"
                )
        return tuple(dict.fromkeys(given))

    @model_validator(mode="after")
    def _all_where_none_is_named(self) -> Self:
        for name in ("locales", "domains", "lengths"):
            vars(self)[name] = getattr(self, name) or tuple(_names()[name])
        return self


class BenchmarkOptions(TextKinds):
    """The settings of a benchmark. ``documents``: of each locale; None: as many as published. ``perturbations`` take turns."""

    documents: int | None = setting(None, "Documents of each locale (default: as many as the published benchmark has).", metavar="N", ge=1)
    perturbations: Converted[tuple[str, ...], Sequence[str]] = setting(
        (), "Spoil the texts: spacing, case, transliteration, ocr or digits. Several take turns.", flags="--perturb", metavar="HOW"
    )
    seed: int = setting(0, "Other documents for another seed.")

    def count(self, locale: str) -> int:
        """The number of documents of *locale*."""
        from piiloom.taxonomy.entities.entity_catalogue import LOCALES

        return dict(zip(LOCALES, PUBLISHED, strict=True))[locale] if self.documents is None else self.documents


class WritingOptions(TextKinds, ModelSettings):
    """The carriers to be written: ``documents`` of each locale, by a model (whose seed draws the orders, too)."""

    locales: Converted[tuple[str, ...], Sequence[str]] = setting(
        ..., "The locale to write for, as pl_PL. May be repeated.", flags="--locale", metavar="CODE"
    )
    provider: str = setting(..., "Provider of the model that writes: openai, anthropic, compatible or local.", panel=MODEL)
    documents: int = setting(24, "Carriers of each locale; domains and lengths take turns.", metavar="N", ge=1)
    seed: int = setting(7, "Other orders for another seed; equal ones find the replies that are kept.")
    timeout_s: float = setting(
        180.0, "Longest duration of one request.", flags="--timeout", metavar="SECONDS", panel=CALLS, gt=0, le=3600, advanced=True
    )

    @model_validator(mode="after")
    def _known_model(self) -> Self:
        self.spec()
        return self


def _names() -> Mapping[str, Sequence[str]]:
    from piiloom.detection.benchmark.carriers import LENGTHS
    from piiloom.taxonomy.entities.entity_catalogue import LOCALES

    return {"locales": LOCALES, "domains": DOMAINS, "lengths": tuple(LENGTHS), "perturbations": PERTURBATIONS}
