"""The three prefilters: Hyperscan tells patterns and places, RE2's sets tell patterns only, and without either every pattern is tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from piiloom.foundation.errors import UsageError
from piiloom.patterns.prefilter import Filtered, PatternPlaces, Prefilter, refused

Backend = Literal["auto", "hyperscan", "re2", "regex"]
BACKENDS: Final[tuple[Backend, ...]] = ("auto", "hyperscan", "re2", "regex")


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


def make_prefilter(backend: Backend, patterns: Sequence[Filtered]) -> Prefilter:
    """Make the prefilter *backend*; "auto" takes Hyperscan if it is installed, else RE2, else none.

    Raises ``UsageError`` if the package of the backend asked for is not installed, ``ConfigError`` if a pattern cannot be compiled.
    """
    if backend in ("auto", "hyperscan") and patterns:
        try:
            from piiloom.patterns.hyperscan_prefilter import HyperscanPrefilter  # noqa: PLC0415 - optional

            return HyperscanPrefilter(patterns)
        except ImportError:
            if backend == "hyperscan":
                raise UsageError("hyperscan is not installed", remedy="pip install hyperscan, or use --engine auto") from None
    if backend in ("auto", "re2") and patterns:
        try:
            return Re2Prefilter(patterns)
        except ImportError:
            if backend == "re2":
                raise UsageError("google-re2 is not installed", remedy="pip install google-re2, or use --engine auto") from None
    return EveryPattern(patterns)
