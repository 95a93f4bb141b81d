"""Prefilters say which patterns may match in a text, and where: Hyperscan gives patterns and places, RE2's sets give patterns only.

Without either, every pattern is tried. All give the same final result.

Hyperscan (or Vectorscan) as a prefilter: all patterns in a few passes, each over 25 MB/s or more.

Compiling takes longer than linearly in the number of expressions, so they are shared out over several databases. These are kept in the
user's cache folder, since a command would else wait for them a second or two each time.
"""

from __future__ import annotations

import hashlib
import os
import platform
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.whole_files import replaced
from piiloom.patterns.writing import Loose

# By the number of a pattern, in ascending order: where its literals begin, or its looser expression ends. None: somewhere in the text.
PatternPlaces = Mapping[int, Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class Filtered:
    """A pattern to be filtered. ``name`` says what it is, for errors; ``only_whether``: it is enough to know whether it matches.

    ``shared``: the engines of other locales have it, too, so what is compiled for it can serve them all.
    """

    loose: tuple[Loose, ...]
    name: str
    only_whether: bool = False
    shared: bool = False


class Prefilter(Protocol):
    """Tells for the bytes of a folded text which patterns (by number) may match."""

    name: str

    def places(self, data: bytes) -> PatternPlaces:
        """Return the patterns that may match in *data*."""
        ...


def refused(name: str, engine: str, error: Exception) -> ConfigError:
    """The error for a pattern that *engine* cannot compile."""
    return ConfigError(f"{engine} cannot compile the pattern: {error}", where=name, remedy="Simplify the pattern, above all its repeats")


Backend = Literal["auto", "hyperscan", "re2", "regex"]


class EveryPattern:
    """No prefilter: all patterns are tried on the whole text."""

    name = "regex"

    def __init__(self, patterns: Sequence[Filtered]) -> None:
        self._all: PatternPlaces = dict.fromkeys(range(len(patterns)))

    def places(self, data: bytes) -> PatternPlaces:  # noqa: ARG002 - the protocol's signature
        """All patterns, everywhere."""
        return self._all


class Re2Prefilter:
    """Google's RE2: linear in the text, and many patterns at once."""

    name = "re2"

    def __init__(self, patterns: Sequence[Filtered]) -> None:
        import re2  # noqa: PLC0415 - optional

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 256 << 20
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._numbers: list[int] = []
        for number, pattern in enumerate(patterns):
            for loose in pattern.loose:
                try:
                    self._set.Add(b"(?i)" + loose.expression if loose.ignore_case else loose.expression)
                except re2.error as error:
                    raise refused(pattern.name, "RE2", error) from None
                self._numbers.append(number)
        self._set.Compile()

    def places(self, data: bytes) -> PatternPlaces:
        """The patterns that match, everywhere."""
        return dict.fromkeys(sorted({self._numbers[one] for one in self._set.Match(data) or ()}))


try:
    import hyperscan
except ImportError:  # optional
    hyperscan = None  # type: ignore[assignment]

_PER_DATABASE: Final = 60
VARIABLE: Final = "PIILOOM_CACHE"

# An expression, and whether only the first match is told.
_Key = tuple[Loose, bool]


class HyperscanPrefilter:
    """Each thread has scratch space of its own. Equal expressions of several patterns are one."""

    name = "hyperscan"

    def __init__(self, patterns: Sequence[Filtered]) -> None:
        if hyperscan is None:
            raise ImportError("hyperscan")
        numbers: defaultdict[_Key, list[int]] = defaultdict(list)
        for number, pattern in enumerate(patterns):
            for loose in pattern.loose:
                numbers[loose, pattern.only_whether].append(number)
        names = {number: pattern.name for number, pattern in enumerate(patterns)}
        shared = {key for key, those in numbers.items() if any(patterns[number].shared for number in those)}
        # By database: for each of its expressions its length if it is a literal, and the patterns that have it.
        self._parts: list[tuple[Any, list[tuple[int, list[int]]]]] = []
        for part in _parts(numbers, shared):
            database = _database(tuple(part), tuple(names[numbers[key][0]] for key in part))
            self._parts.append((database, [(key[0].literal_length, numbers[key]) for key in part]))
        self._only_whether = frozenset(number for number, pattern in enumerate(patterns) if pattern.only_whether)
        self._thread = threading.local()

    def places(self, data: bytes) -> PatternPlaces:
        """The patterns that match: where the literals of one begin, or where the expression of one ends."""
        found: defaultdict[int, set[int]] = defaultdict(set)

        def note(expression: int, _start: int, end: int, _flags: int, expressions: list[tuple[int, list[int]]]) -> None:
            length, numbers = expressions[expression]
            for number in numbers:
                found[number].add(end - length)

        for (database, expressions), scratch in zip(self._parts, self._scratch(), strict=True):
            database.scan(data, match_event_handler=note, scratch=scratch, context=expressions)
        return {number: None if number in self._only_whether else sorted(places) for number, places in found.items()}

    def _scratch(self) -> list[Any]:
        made: list[Any] | None = getattr(self._thread, "scratch", None)
        if made is None:
            made = self._thread.scratch = [hyperscan.Scratch(database) for database, _ in self._parts]
        return made


def _parts(keys: Iterable[_Key], shared: Collection[_Key]) -> Iterator[list[_Key]]:
    """Share *keys* out over databases: those that other engines have as well are apart, so that their databases are the same there.

    Literals are apart, too: thousands of them are compiled at once in no time. Like expressions next to each other compile faster.
    """
    ordered = sorted(keys, key=lambda key: (key[0].expression, key[1]))
    for of_all in (True, False):
        mine = [key for key in ordered if (key in shared) == of_all]
        if literals := [key for key in mine if key[0].literal_length]:
            yield literals
        others = [key for key in mine if not key[0].literal_length]
        for at in range(0, len(others), _PER_DATABASE):
            yield others[at : at + _PER_DATABASE]


@lru_cache(maxsize=512)
def _database(keys: tuple[_Key, ...], names: tuple[str, ...]) -> Any:
    """The database of *keys*, from this process or the cache if it is there and fits this machine.

    Raises ``ConfigError`` that names the pattern.
    """
    place = _cache_place(keys)
    if place is not None and place.exists():
        with suppress(OSError, hyperscan.error):
            database = hyperscan.loadb(place.read_bytes(), hyperscan.HS_MODE_BLOCK)
            database.scan(b"", match_event_handler=lambda *_: None, scratch=hyperscan.Scratch(database))
            return database
    database = _compiled(keys, names)
    if place is not None:
        _keep(place, hyperscan.dumpb(database))
    return database


def _compiled(keys: Sequence[_Key], names: Sequence[str]) -> Any:
    database = hyperscan.Database()
    try:
        _compile(database, keys)
    except hyperscan.error as error:  # it names no pattern
        for key, name in zip(keys, names, strict=True):
            try:
                _compile(hyperscan.Database(), [key])
            except hyperscan.error as own:
                raise refused(name, "Hyperscan", own) from None
        raise ConfigError(f"Hyperscan cannot compile the patterns together: {error}", remedy="Use --engine re2 or regex") from None
    return database


def _compile(database: Any, keys: Sequence[_Key]) -> None:
    caseless, once = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
    flags = [(caseless if loose.ignore_case else 0) | (once if single else 0) for loose, single in keys]
    expressions = [loose.expression for loose, _ in keys]
    database.compile(expressions=expressions, ids=list(range(len(keys))), elements=len(keys), flags=flags)


def _cache_place(keys: Sequence[_Key]) -> Path | None:
    """Where the database of *keys* is kept; None if ``PIILOOM_CACHE`` is set to nothing."""
    folder = os.environ.get(VARIABLE, str(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "piiloom"))
    if not folder:
        return None
    built = (version("hyperscan"), platform.machine(), platform.node())
    digest = hashlib.sha256(repr((built, [(loose.expression, loose.ignore_case, single) for loose, single in keys])).encode()).hexdigest()
    return Path(folder) / "hyperscan" / f"{digest[:32]}.db"


def _keep(place: Path, data: bytes) -> None:
    """Write the cache file, whole or not at all; a folder that cannot be written only costs the time."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replaced(place, by=str(os.getpid())) as file:
            file.write(data)
