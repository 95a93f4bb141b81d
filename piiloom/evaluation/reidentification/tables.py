"""The figures of an attack as tables, for the terminal and for Markdown."""

from __future__ import annotations

from typing import Final

from piiloom.evaluation.pages.cells import count, with_share
from piiloom.evaluation.pages.tables import ReportTable, Row
from piiloom.evaluation.reidentification.figures import SMALL, AttackFigures
from piiloom.evaluation.reidentification.surrogate_names import SurrogateLinks
from piiloom.foundation.words import counted

_BY: Final = {1: "… by one value", 2: "… by two at most", 3: "… by three at most"}
_NOTE: Final = (
    "k: how many documents of the corpus have all values that are left in one; unique: k is 1. Alone: no other document has just these "
    "values left. Linked: they share a value left in both that at most {rare} documents have."
)
_NAMES_NOTE: Final = "Whoever has the originals tells true pairs from the others; whoever has the corpus alone sees linked pairs only."


def attack_tables(figures: AttackFigures) -> list[ReportTable]:
    """Return the table of the policies and, where names were replaced, that of their surrogates."""
    of = figures.documents
    each = figures.policies.values()
    rows: list[Row] = [
        ("distinct values left", *(count(one.values) for one in each)),
        ("documents with any", *(_share(one.holding, of) for one in each)),
        ("unique documents", *(_share(one.unique, of) for one in each)),
        *((_BY[size], *(_share(one.unique_by[size], of) for one in each)) for size in _BY),
        ("alone in what is left", *(_share(one.alone, of) for one in each)),
        (f"documents of k < {SMALL}", *(_share(one.small, of) for one in each)),
        ("least k", *(count(one.least_k) for one in each)),
        ("median k", *(count(one.median_k) for one in each)),
        ("linked documents", *(_share(one.linked.documents, of) for one in each)),
        ("… most of them together", *(count(one.linked.largest) for one in each)),
    ]
    title = f"what is left of {counted(of, 'document')}, by what is masked"
    note = _NOTE.format(rare=figures.rare) + _in_part(figures)
    tables = [
        ReportTable(title=title, columns=("", *(policy.replace("-", " ") for policy in figures.policies)), rows=tuple(rows), note=note)
    ]
    if figures.surrogate_names is not None:
        tables.append(_names_table(figures.surrogate_names))
    return tables


def _share(number: int, of: int) -> str:
    return with_share(number, number / of)


def _in_part(figures: AttackFigures) -> str:
    most = max((one.in_part for one in figures.policies.values()), default=0)
    return f" In up to {counted(most, 'document')} only the rarest values were combined." if most else ""


def _names_table(links: SurrogateLinks) -> ReportTable:
    rows: tuple[Row, ...] = (
        ("documents with surrogates of names", count(links.documents)),
        ("surrogates / originals that are known", f"{count(links.surrogates)} / {count(links.originals)}"),
        ("surrogates in several documents", count(links.shared)),
        ("… documents that they link", count(links.linked_documents)),
        ("… pairs of documents / true pairs", f"{count(links.pairs)} / {count(links.true_pairs)}"),
        ("originals with one surrogate in several documents", count(links.consistent)),
        ("surrogates that are an original of their document", count(links.unchanged)),
        ("surrogates that are an original of another document", count(links.of_others)),
        ("surrogates of several originals", count(links.shared_by_originals)),
    )
    return ReportTable(title="surrogates of names", columns=("what", "number"), rows=rows, note=_NAMES_NOTE)
