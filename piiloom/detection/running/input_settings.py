"""The input of a detection, and the names of its fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self

from pydantic import model_validator

from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import OptionalPath, Settings, setting

READING: Final = "What is read"


class InputFields(Settings):
    """The form of an input, and its fields: keys of JSON objects ("note.text" goes deeper) or columns of tables.

    Without ``locale`` and ``locale_field``, rows name the locale. Raises ``UsageError`` for an unknown locale.
    """

    locale: str | None = setting(
        None,
        "Locale of all texts, or of rows that name none, such as nl_NL; piiloom locales list shows all.",
        metavar="CODE",
        panel=READING,
    )
    locale_field: str | None = setting(None, "Field of a row's locale (else locale).", metavar="NAME", panel=READING)
    text_field: str | None = setting(None, "Field of the text (else text or context).", metavar="NAME", panel=READING)
    id_field: str | None = setting(None, "Field of a row's id (else id).", metavar="NAME", panel=READING)
    question_field: str | None = setting(None, "Field of the question (else question).", metavar="NAME", panel=READING)
    input_format: str | None = setting(None, "Format of INPUT, if its suffix does not tell.", metavar="FORMAT", panel=READING)
    lines: bool = setting(False, "Read each line of a text file as a document.", panel=READING)

    @model_validator(mode="after")
    def _known_locale(self) -> Self:
        if self.locale is not None:
            try:
                vars(self)["locale"] = self.checked_locale(self.locale)
            except UsageError as error:
                raise UsageError(error.message, where="--locale", remedy=error.remedy) from None
        return self

    @property
    def any_locale(self) -> bool:
        """Whether locales that have no catalogue are taken, too."""
        return False

    def checked_locale(self, name: str) -> str:
        """Return the locale that *name* means, see ``detection_locale``."""
        return detection_locale(name, any_locale=self.any_locale)

    @property
    def named_fields(self) -> dict[str, str]:
        """The fields that were named, by option."""
        given = {
            "--text-field": self.text_field,
            "--id-field": self.id_field,
            "--question-field": self.question_field,
            "--locale-field": self.locale_field,
        }
        return {option: field for option, field in given.items() if field is not None}


class DetectionInput(InputFields):
    """An input: a file, or a folder of files of one format."""

    source: OptionalPath = setting(
        None,
        "A .txt, .jsonl, .json, .csv, .tsv or .parquet file, one that piiloom import reads, or a folder of .txt files. "
        "With --to annotation none: the records of --store are read.",
        metavar="INPUT",
        argument=True,
    )

    @property
    def path(self) -> Path:
        """The input. Raises ``UsageError`` if none is named."""
        if self.source is None:
            raise UsageError("no INPUT is named", remedy="Name a file or a folder; or add --to annotation to look through a store")
        return self.source

    @property
    def input_identity(self) -> dict[str, Any]:
        """The settings that decide which documents there are, beside the content of the files."""
        return {
            "input": self.path.resolve().name,
            "format": self.input_format,
            "lines": self.lines,
            "fields": self.named_fields,
            "locale": self.locale,
        }


def detection_locale(name: str, *, any_locale: bool) -> str:
    """Return the locale that *name* means: one of the catalogue, or with *any_locale* any other, also a language alone.

    Raises ``UsageError`` for an unknown locale.
    """
    from piiloom.taxonomy.entities.entity_catalogue import known_locale
    from piiloom.taxonomy.locales import locale_codes, resolve_locale

    if not any_locale:
        return known_locale(name)
    try:
        return resolve_locale(name)
    except UsageError:
        if (language := name.strip().lower()) in locale_codes().languages:
            return language
        raise
