"""Format the cells of the report's tables that need more than a figure: bins, self-BLEU, lists."""

from __future__ import annotations

from collections.abc import Iterable

from piiloom.evaluation.pages.cells import NOTHING, count
from piiloom.evaluation.report.self_bleu import SelfBleu
from piiloom.evaluation.report.texts import Bin


def span_of_bin(each: Bin) -> str:
    """``40–49``, or ``240+`` for the open one."""
    if each.last is None:
        return f"{each.first:,}+"
    return count(each.first) if each.first == each.last else f"{each.first:,}–{each.last:,}"


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
