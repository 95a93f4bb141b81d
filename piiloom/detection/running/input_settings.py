"""What is to be read, and what its fields are called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entities.entity_catalogue import known_locale
from piiloom.taxonomy.locales import locale_codes, resolve_locale


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSettings:
    """Settings of an input: a file, or a folder of files of one format.

    ``format`` None: by the suffix. ``lines``: each line of a text file is a document. The fields are keys of JSON objects ("note.text"
    goes deeper) or columns of tables; by default the text is ``text``, else ``context``, and the others are ``id``, ``question`` and
    ``locale``. ``locale`` is that of all documents; with ``locale_field``, of rows that name none. Without either, rows say it.
    ``any_locale`` takes locales that have no catalogue, too.

    Raises ``UsageError`` for an unknown locale.
    """

    path: Path
    format: str | None = None
    lines: bool = False
    text_field: str | None = None
    id_field: str | None = None
    question_field: str | None = None
    locale_field: str | None = None
    locale: str | None = None
    any_locale: bool = False

    def __post_init__(self) -> None:
        if self.locale is not None:
            try:
                object.__setattr__(self, "locale", self.checked_locale(self.locale))
            except UsageError as error:
                raise UsageError(error.message, where="--locale", remedy=error.remedy) from None

    def checked_locale(self, name: str) -> str:
        """Return the locale that *name* means, see ``detection_locale``."""
        return detection_locale(name, any_locale=self.any_locale)

    @property
    def named_fields(self) -> dict[str, str]:
        """The fields that were named, by option."""
        told = {
            "--text-field": self.text_field,
            "--id-field": self.id_field,
            "--question-field": self.question_field,
            "--locale-field": self.locale_field,
        }
        return {option: field for option, field in told.items() if field is not None}

    @property
    def identity(self) -> dict[str, Any]:
        """What decides which documents there are, beside the content of the files."""
        return {
            "input": self.path.resolve().name,
            "format": self.format,
            "lines": self.lines,
            "fields": self.named_fields,
            "locale": self.locale,
        }


def detection_locale(name: str, *, any_locale: bool) -> str:
    """Return the locale that *name* means: one of the catalogue, or with *any_locale* any other, also a language alone.

    Raises ``UsageError`` for an unknown locale.
    """
    if not any_locale:
        return known_locale(name)
    try:
        return resolve_locale(name)
    except UsageError:
        if (language := name.strip().lower()) in locale_codes().languages:
            return language
        raise
