"""Format the cells of the report's tables: figures for people to read, and text from the corpus."""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.evaluation.report.self_bleu import SelfBleu
from piiloom.evaluation.report.texts import Bin

NOTHING = "–"


class Quoted(str):
    """Text that piiloom did not write, which must be escaped when it is rendered."""

    __slots__ = ()


def short(text: str, limit: int = 48) -> str:
    """Return *text*, cut to *limit* characters with "…" at the end if it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def count(number: int | None) -> str:
    """``1,234``."""
    return NOTHING if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """``12.3%``, with two places below one percent."""
    if share is None:
        return NOTHING
    return f"{100 * share:.2f}%" if 0 < share < 0.00995 else f"{100 * share:.1f}%"


def decimal(value: float | None) -> str:
    """``0.581``."""
    return NOTHING if value is None else f"{value:.3f}"


def span_of_bin(each: Bin) -> str:
    """``40–49``, or ``240+`` for the open one."""
    if each.last is None:
        return f"{each.first:,}+"
    return count(each.first) if each.first == each.last else f"{each.first:,}–{each.last:,}"


def with_share(number: int, share: float | None) -> str:
    """``3 (1.5%)``."""
    return f"{count(number)} ({percent(share)})"


def bleu(score: SelfBleu) -> str:
    """``0.304 (3 × 100 texts)``."""
    if score.mean is None:
        return NOTHING
    drawn = f"{score.samples} × {score.texts} texts" if score.samples > 1 else f"{score.texts} texts"
    return f"{score.mean:.3f} ({drawn})"


def shares_of(shares: Iterable[float | None] | None) -> str:
    """``.060/.274``: without leading zeros, so that two kinds of text fit side by side."""
    return NOTHING if shares is None else "/".join(NOTHING if share is None else f"{share:.3f}".removeprefix("0") for share in shares)


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """``forum post: 1,200, letter: 300``."""
    return ", ".join(f"{name}: {number:,}" for name, number in counts)
