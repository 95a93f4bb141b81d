"""What ``piiloom surrogate`` is told, looked at before anything is read, paid for or written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.scratch_places import lock, remove_old_drafts
from piiloom.pii_values.names.regions import region_of
from piiloom.surrogates.kinds.places import languages
from piiloom.surrogates.outputs.folder import OutputFolder, VaultFile
from piiloom.surrogates.placeholders.finder import Finder
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.taxonomy.locales import resolve_locale

# Two processes start in about a second, and read and plan everything twice, which one process does not: below this they lose time.
_BYTES_PER_WORKER: Final = 8 * 2**20
_PACKED: Final = 4  # how many times its size a compressed file holds
_PACKED_FORMATS: Final = frozenset({".zip", ".parquet", ".pq", ".docx"})


def checked_locale(locale: str) -> str:
    """Return the locale that *locale* names. Raises ``UsageError`` for an unknown locale, or a country of which no names are known.

    A language without words of ours is no error: its dates or names of organisations come in English (``warning_of_language``).
    """
    try:
        found = resolve_locale(locale)
        region_of(found.partition("_")[2])
    except UsageError as error:
        raise UsageError(error.message, where="--locale", remedy=error.remedy) from None
    return found


def warning_of_language(locale: str) -> str | None:
    """What the user must hear where the language of *locale* has no words of ours."""
    language, known = locale.partition("_")[0], languages()
    if language in known:
        return None
    return f"no words are known in {language!r}: organisations, occupations and the like come in English (known: {', '.join(known)})"


def check_language(locale: str, *, needed: bool) -> None:
    """Raise ``UsageError`` if the tags of texts in the language of *locale* are *needed* to be read, and cannot be."""
    if needed and (warning := warning_of_language(locale)) is not None:
        remedy = "Give a mapping with --placeholders (piiloom surrogate survey writes one), or --language-words none."
        raise UsageError(warning, where="--locale", remedy=remedy)


def check_places(out: Path, source: Path, vault: Path | None, *, force: bool) -> None:
    """Raise now what the run would raise at its start: *out* or *vault* may not be written there. Leaves nothing."""
    with ExitStack() as stack:
        stack.enter_context(OutputFolder(out, source, force=force))
        if vault is not None:
            try:
                stack.enter_context(VaultFile(vault, out, source))
            except OutputError as error:
                why = getattr(error.__cause__, "strerror", None) or "no reason given"
                remedy = "Make its folder first, or name another file with --vault"
                raise OutputError(f"the vault cannot be written ({why})", where=str(vault), remedy=remedy) from error


def miss_rates(text: str, option: str) -> tuple[float, ...]:
    """The rates of "0.01,0.05"; raises ``UsageError`` for what is no share."""
    rates = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        try:
            rate = float(part)
        except ValueError:
            rate = -1.0
        if not 0 < rate < 1:
            raise UsageError(f"{part!r} is not a miss rate", where=option, remedy="Give shares between 0 and 1: 0.01,0.05.")
        rates.append(rate)
    return tuple(rates)


def worker_count(text: str, source: Path) -> int | Literal["ray"]:
    """Return the number that ``--workers`` asks for; "auto" is one for every 8 MB of *source*, and as many as this process may use."""
    if text == "ray":
        return "ray"
    if text == "auto":
        files = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size * (_PACKED if path.suffix.lower() in _PACKED_FORMATS else 1) for path in files)
        return max(1, min(size // _BYTES_PER_WORKER, len(os.sched_getaffinity(0))))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{text!r} is not a number of workers", where="--workers", remedy="Give a number from 1 on, auto or ray.")
    return int(text)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A hidden file beside *path* to write to, which gets its name at the end; ``OutputError`` where that cannot be, and nothing left."""
    draft = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        remove_old_drafts(path)
        with draft.open("xb") as held:
            lock(held)
            yield draft
            draft.replace(path)
    except OSError as error:
        remedy = "Name another place with --out, or make the folder first"
        raise OutputError(f"the file cannot be written ({error.strerror})", where=str(path), remedy=remedy) from error
    finally:
        if draft.exists():
            draft.unlink()


class PlaceholderKeys:
    """Says of a JSON key whether it holds what *mapping* takes for a placeholder; picklable, compiled where it is used."""

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self._finder: Finder | None = None

    def __call__(self, key: str) -> bool:
        """Whether *key* does."""
        if self._finder is None:
            self._finder = Finder(self._mapping)
        found = self._finder.find(key)
        return bool(found.mentions or found.unknown)

    def __reduce__(self) -> tuple[type[PlaceholderKeys], tuple[Mapping]]:
        return type(self), (self._mapping,)
