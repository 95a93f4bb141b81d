"""Make documents of the rows of one file."""

from __future__ import annotations

from typing import Any, Final

from piiloom.corpus.formats.base import Json, quoted
from piiloom.corpus.formats.columns import MISSING, reached
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.detection.running.chunks import InputDocument
from piiloom.detection.running.input_settings import DetectionInput
from piiloom.foundation.errors import UsageError

TEXTS: Final = ("text", "context")  # what the field of the text may be called, if nobody says
_MOST_SHOWN: Final = 12


class RowDocuments:
    """Makes documents of the rows of the file called *file*, which may be objects, or texts alone."""

    def __init__(self, file: str, settings: DetectionInput) -> None:
        self._file = file
        self._settings = settings
        self._texts = TEXTS if settings.text_field is None else (settings.text_field,)
        self._locales: dict[str, str] = {}

    def of_text(self, line: int | None, text: str) -> InputDocument:
        """Return the document of a text without anything beside it. Raises ``RowFault`` if it is blank or has no locale."""
        if not text.strip():
            raise RowFault("there is no text in it")
        return InputDocument(self._file if line is None else f"{self._file}:{line}", text, self._locale({}), None, self._file, line)

    def of_row(self, line: int, row: Json) -> InputDocument:
        """Return the document of an object. Raises ``RowFault`` if a field is missing or of another kind."""
        given = self._id(row)
        return InputDocument(
            id=given or f"{self._file}:{line}",
            text=self._text(row),
            locale=self._locale(row),
            question=self._question(row),
            file=self._file,
            line=line,
            given_id=given,
            group_keys=_group_keys(row.get("meta")),
        )

    def _text(self, row: Json) -> str:
        for name in self._texts:
            found = reached(row, name)
            if found is MISSING:
                continue
            if found is not None and not isinstance(found, str):
                raise RowFault(f"{name}: must be text")
            if not found or not found.strip():
                raise RowFault(f"{name}: there is no text in it")
            return found
        raise RowFault(f"there is no {' and no '.join(map(repr, self._texts))} in the row; it has: {_shown(row)}")

    def _id(self, row: Json) -> str | None:
        name = self._settings.id_field
        found = self._named(row, name) if name is not None else row.get("id")
        if isinstance(found, float) and found.is_integer():  # a column of integers that once had a gap
            found = int(found)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        if found is None or isinstance(found, str):
            return found or None
        raise RowFault(f"{name or 'id'}: must be text or a whole number")

    def _question(self, row: Json) -> str | None:
        name = self._settings.question_field
        found = row.get("question") if name is None else self._named(row, name)
        if found is None or isinstance(found, str):
            return found
        raise RowFault(f"{name or 'question'}: must be text or null")

    def _locale(self, row: Json) -> str:
        name, fallback = self._settings.locale_field, self._settings.locale
        if name is None and fallback is not None:
            return fallback
        found = row.get("locale") if name is None else reached(row, name)
        if found is None or found is MISSING or found == "":
            if fallback is None:
                raise RowFault("the row names no locale, and --locale gives none")
            return fallback
        if not isinstance(found, str):
            raise RowFault(f"{name or 'locale'}: must be text")
        if found not in self._locales:
            try:
                self._locales[found] = self._settings.checked_locale(found)
            except UsageError:
                raise RowFault(f"{name or 'locale'}: unknown locale {quoted(found)}") from None
        return self._locales[found]

    def _named(self, row: Json, name: str) -> Any:
        found = reached(row, name)
        if found is MISSING:
            raise RowFault(f"there is no {name!r} in the row; it has: {_shown(row)}")
        return found


def _shown(row: Json) -> str:
    names = list(row)
    return ", ".join(map(repr, names[:_MOST_SHOWN])) + (" …" if len(names) > _MOST_SHOWN else "") or "nothing"


def _group_keys(meta: object) -> tuple[str, ...]:
    keys = meta.get("group_keys") if isinstance(meta, dict) else None
    return tuple(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()
