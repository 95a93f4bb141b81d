"""What is to be read, and what its fields are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entities.entity_catalogue import known_locale

_LOCALE: Final = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")


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
        """Return the locale of that *name*, as we spell it. Raises ``UsageError`` for an unknown one."""
        try:
            return known_locale(name)
        except UsageError:
            if self.any_locale and _LOCALE.fullmatch(name):
                return name
            raise

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
