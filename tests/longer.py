"""How much of a test `make test` tries, what waits for `make test-long`, and what for ``PIILOOM_EXPLORE=1 make test-long``."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable
from functools import wraps
from inspect import Signature, signature
from typing import Any

import pytest
from hypothesis import settings

# Look for what the usual examples, blows and sizes did not find (CONTRIBUTING.md).
EXPLORE = bool(os.environ.get("PIILOOM_EXPLORE"))

# For a test that takes long and finds what others find, too.
explored = pytest.mark.skipif(not EXPLORE, reason="run with PIILOOM_EXPLORE=1")

# For a law whose single cases are tested by hand as well.
few = settings(max_examples=200 if EXPLORE else 10, derandomize=not EXPLORE, deadline=None)


def examples(explored: int) -> int:
    """How many examples a property test takes that takes *explored* ones with ``PIILOOM_EXPLORE``: else they are the same each time."""
    return explored if EXPLORE else max(60, explored // 10)


def mostly_long(values: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """All *values* as parameters; those that are not among *quick* are long. Tuples are the values of several parameters."""
    return [_parameter(value, quick=value in quick) for value in values]


def usually(values: Iterable[Any], kept: Container[Any]) -> list[Any]:
    """Those of *values* that are among *kept* as parameters; all of them with ``PIILOOM_EXPLORE``."""
    return [value for value in values if EXPLORE or value in kept]


def case_by_case(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have one test go through all *values*, as parameters of these *names*: a test of its own for each would take longer than the case."""
    cases, several = list(values), not isinstance(names, str) or "," in names
    words = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**others: Any) -> None:
            for case in cases:
                try:
                    test(**others, **dict(zip(words, case if several else (case,), strict=True)))
                except BaseException as error:
                    error.add_note(f"with {names}: {case!r}")
                    raise

        left = [one for name, one in signature(test).parameters.items() if name not in words]
        whole.__signature__ = Signature(left)  # type: ignore[attr-defined]
        return whole

    return decorated


def sampled(quick: Any, full: Any) -> list[Any]:
    """Two parameters: how much a quick test looks at, and how much a long one does."""
    return [_parameter(quick, quick=True), _parameter(full, quick=False)]


def _parameter(value: Any, *, quick: bool) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=[] if quick else [pytest.mark.long])
