"""A user's own recognizers, in the form of presidio's settings files: ``recognizers:`` with a list of patterns or deny lists.

An entry with ``type: predefined`` switches on one that presidio has but leaves out by default, such as ``UkNinoRecognizer``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import YamlDocument, read_document

_LIST: Final = "recognizers"
_FLAGS: Final = 26  # what presidio's own files have: letters of either case, many lines, and full stops that match line breaks


def own_recognizers(paths: Sequence[Path], language: str) -> Iterator[Any]:
    """Yield the recognizers in the files *paths* that are for texts in *language*.

    Raises ``ConfigError`` (file, line) for a file without recognizers and for an entry that presidio refuses.
    """
    for path in paths:
        document = read_document(path)
        entries = document.data.get(_LIST) if isinstance(document.data, dict) else None
        if not isinstance(entries, list) or not entries:
            remedy = "Write it as presidio has it: a key recognizers, with a list of recognizers"
            raise ConfigError("has no recognizers of presidio", where=document.where(), remedy=remedy)
        for number, entry in enumerate(entries):
            yield from _made(document, number, entry, language)


def _made(document: YamlDocument, number: int, entry: object, language: str) -> Iterator[Any]:
    from presidio_analyzer.recognizer_registry.recognizers_loader_utils import RecognizerListLoader  # noqa: PLC0415 - an extra

    where = document.where((_LIST, number))
    if not isinstance(entry, dict):
        raise ConfigError("a recognizer has keys and values", where=where, remedy="Give it a name, supported_entity and patterns")
    listed: Any = [dict(entry)]
    try:
        found = list(RecognizerListLoader.get(listed, [language], _FLAGS))
    except Exception as error:  # presidio checks entries as it goes, and raises whatever its code runs into
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise ConfigError(f"presidio refuses the recognizer ({reason})", where=where, remedy="Correct the entry") from error
    yield from found
