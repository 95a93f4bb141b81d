"""Prefilters: which patterns may match in a text, and where such a match ends. Three engines give the same final result.

Hyperscan tells patterns and ends, RE2's sets tell patterns only, and without either every pattern is tried.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from piiloom.foundation.errors import ConfigError, UsageError

Backend = Literal["auto", "hyperscan", "re2", "regex"]
BACKENDS: Final[tuple[Backend, ...]] = ("auto", "hyperscan", "re2", "regex")
EVERYWHERE: Final = None  # in place of the ends: somewhere in the text

Places = Mapping[int, Sequence[int] | None]


class Prefilter(Protocol):
    """Tells for the bytes of a folded text which patterns (by number) may match, and the ends of such matches or ``EVERYWHERE``."""

    name: str

    def places(self, data: bytes) -> Places:
        """Return the patterns that may match in *data*."""
        ...


class EveryPattern:
    """No prefilter: all patterns are tried on the whole text."""

    name = "regex"

    def __init__(self, count: int) -> None:
        self._all: Places = dict.fromkeys(range(count), EVERYWHERE)

    def places(self, data: bytes) -> Places:  # noqa: ARG002 - the protocol's signature
        """All patterns, everywhere."""
        return self._all


class Re2Prefilter:
    """Google's RE2: linear in the text, and many patterns at once."""

    name = "re2"

    def __init__(self, patterns: Sequence[bytes], names: Sequence[str]) -> None:
        import re2  # noqa: PLC0415 - optional

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 256 << 20
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        for pattern, name in zip(patterns, names, strict=True):
            try:
                self._set.Add(pattern)
            except re2.error as error:
                raise _refused(name, "RE2", error) from None
        self._set.Compile()

    def places(self, data: bytes) -> Places:
        """The patterns that match, everywhere."""
        return dict.fromkeys(sorted(self._set.Match(data) or ()), EVERYWHERE)


class HyperscanPrefilter:
    """Intel's Hyperscan (or Vectorscan): all patterns in one pass. Each thread has scratch space of its own."""

    name = "hyperscan"

    def __init__(self, patterns: Sequence[bytes], names: Sequence[str], only_whether: Sequence[bool]) -> None:
        import hyperscan  # noqa: PLC0415 - optional

        self._module = hyperscan
        self._database = hyperscan.Database()
        flags = [hyperscan.HS_FLAG_SINGLEMATCH if single else 0 for single in only_whether]
        try:
            self._database.compile(expressions=list(patterns), ids=list(range(len(patterns))), elements=len(patterns), flags=flags)
        except hyperscan.error as error:
            raise self._blamed(patterns, names, error) from None
        self._only_whether = frozenset(number for number, single in enumerate(only_whether) if single)
        self._thread = threading.local()

    def _blamed(self, patterns: Sequence[bytes], names: Sequence[str], error: Exception) -> ConfigError:
        """Return an error that names the pattern that cannot be compiled; Hyperscan's own names none."""
        for pattern, name in zip(patterns, names, strict=True):
            try:
                self._module.Database().compile(expressions=[pattern], ids=[0], elements=1, flags=[0])
            except self._module.error as own:
                return _refused(name, "Hyperscan", own)
        return ConfigError(f"Hyperscan cannot compile the patterns together: {error}", remedy="Use --engine re2 or regex")

    def places(self, data: bytes) -> Places:
        """The patterns that match, with their ends in ascending order."""
        found: defaultdict[int, list[int]] = defaultdict(list)

        def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found[number].append(end)

        self._database.scan(data, match_event_handler=note, scratch=self._scratch())
        return {number: EVERYWHERE if number in self._only_whether else ends for number, ends in found.items()}

    def _scratch(self) -> Any:
        scratch = getattr(self._thread, "scratch", None)
        if scratch is None:
            scratch = self._thread.scratch = self._module.Scratch(self._database)
        return scratch


def _refused(name: str, engine: str, error: Exception) -> ConfigError:
    return ConfigError(f"{engine} cannot compile the pattern: {error}", where=name, remedy="Simplify the pattern, above all its repeats")


def make_prefilter(backend: Backend, patterns: Sequence[bytes], names: Sequence[str], only_whether: Sequence[bool]) -> Prefilter:
    """Make the prefilter *backend*; "auto" takes Hyperscan if it is installed, else RE2, else none.

    *names* say of each pattern what it is, for errors; *only_whether*: it is enough to know whether it matches. Raises ``UsageError``
    if the package of the backend asked for is not installed, ``ConfigError`` if a pattern cannot be compiled.
    """
    if not patterns:
        return EveryPattern(0)
    if backend in ("auto", "hyperscan"):
        try:
            return HyperscanPrefilter(patterns, names, only_whether)
        except ImportError:
            if backend == "hyperscan":
                raise UsageError("hyperscan is not installed", remedy="pip install hyperscan, or use --engine auto") from None
    if backend in ("auto", "re2"):
        try:
            return Re2Prefilter(patterns, names)
        except ImportError:
            if backend == "re2":
                raise UsageError("google-re2 is not installed", remedy="pip install google-re2, or use --engine auto") from None
    return EveryPattern(len(patterns))
