"""The agreement part of the dashboard: how far people agree, and the records on which they disagree most."""

from __future__ import annotations

from typing import Any

import streamlit as st

from piiloom.annotation_app.agreement.measuring import AgreementFigures, measure_agreement
from piiloom.annotation_app.agreement.resampling import Figure
from piiloom.annotation_app.screens.app_cache import AppCache, finished_records_of
from piiloom.annotation_app.screens.preloading import AGREEMENT, ready
from piiloom.annotation_app.screens.tables import show_table

_SHARED = ("whole_f1", "exact_f1", "boundaries", "types", "relevance")
_ALPHAS = ("boundary_alpha", "type_alpha", "relevance_alpha", "verdict_alpha")
_KAPPAS = ("type_kappa", "relevance_kappa")
_DISPUTED = 20


def show_agreement(cache: AppCache) -> None:
    """Show the agreement figures: overall, for each two people, and by group."""
    ready(*AGREEMENT)
    finished_records = finished_records_of(cache.services)
    report = cache.figures("agreement", finished_records, lambda: measure_agreement(finished_records, disputed=_DISPUTED))
    if not report.overall.comparisons:
        st.info("No record has been finished by two people yet. Set the overlap to 2 or more for some records.")
        return
    overall = _row("all", report.overall, _SHARED + _ALPHAS)
    show_table([overall])
    st.caption(
        "Whole f1: same ends, type and relevance. Exact f1: same ends, whatever the labels. Boundaries: how much paired spans "
        "share. Types, relevance: how many of the paired spans have the same. Alphas (Krippendorff) and kappas (Cohen) leave out what "
        "chance would give. In brackets 95% of a bootstrap over records."
    )
    st.markdown("**Each two people**")
    rows = [_row(" – ".join(people), figures, _SHARED + _KAPPAS) for people, figures in report.by_people.items()]
    show_table(rows)
    by = st.segmented_control("By", ["type", "pair", "day"], default="type", key="agreement_by") or "type"
    groups = {"pair": report.by_pair, "type": report.by_type, "day": report.by_day}[by]
    columns = _SHARED if by == "type" else _SHARED + _ALPHAS
    if groups:
        show_table([_row(name, figures, columns) for name, figures in groups.items()])
    else:
        st.text("These records have no planned pair.")
    if by == "day" and len(groups) > 1:
        plotted = [
            {"day": day, "figure": name.replace("_", " "), "value": getattr(figures, name).value}
            for day, figures in groups.items()
            for name in _SHARED
        ]
        st.line_chart(plotted, x="day", y="value", color="figure", height=260, x_label="", y_label="")
    st.markdown("**Records that people disagree on most**")
    disputed = [
        {"record": one.record_id[:16], "pair": one.pair, "people": ", ".join(one.people), "disagreement": f"{one.disagreement:.0%}"}
        for one in report.disputed
    ]
    show_table(disputed)


def _row(name: str, figures: AgreementFigures, columns: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name, "records": figures.records}
    return row | {column.replace("_", " "): _shown(getattr(figures, column)) for column in columns}


def _shown(figure: Figure | float | None) -> str:
    if isinstance(figure, Figure):
        if figure.value is None:
            return "–"
        known = figure.low is not None and figure.high is not None
        return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})" if known else f"{figure.value:.2f}"
    return "–" if figure is None else f"{figure:.2f}"
