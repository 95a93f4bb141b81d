"""What people change in generated records: which model, stage or prompt causes which errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from piiloom.annotation_app.dashboard.label_changes import Changes, label_changes
from piiloom.annotation_app.screens.app_cache import AppCache, finished_records_of
from piiloom.annotation_app.screens.tables import safe_rows, show_table

_CHANGES = ("rejected", "added", "removed", "moved", "retyped", "relevance_flipped", "question_edited", "context_edited")


def show_changes(cache: AppCache) -> None:
    """Show the shares of changes, overall and by group."""
    finished_records = finished_records_of(cache.services)
    if not finished_records:
        st.info("Nobody has finished a record yet.")
        return
    changes = cache.figures("changes", finished_records, lambda: label_changes(finished_records))
    by = st.segmented_control("By", ["model", "stage", "prompt template", "pair", "type"], default="model", key="changes_by") or "model"
    groups: Mapping[str, Mapping[str, Changes]] = {
        "model": changes.by_model,
        "stage": changes.by_stage,
        "prompt template": changes.by_template,
        "pair": changes.by_pair,
        "type": changes.by_type,
    }
    rows = [_row("all", changes.overall), *(_row(name, group) for name, group in groups[by].items())]
    show_table(rows)
    st.caption(
        "Percent, with 95% intervals (Wilson). Of spans: added, removed, moved, retyped, relevance flipped. Of documents: the others. "
        "Records that came in without a model or a prompt count under “all” alone."
    )
    st.caption("Percent changed, over all")
    plotted = [
        {"change": name.replace("_", " "), "percent": round(100 * (getattr(changes.overall, name).value or 0.0), 2)} for name in _CHANGES
    ]
    st.bar_chart(safe_rows(plotted), x="change", y="percent", horizontal=True, sort="-percent", height=280, x_label="", y_label="")


def _row(name: str, changes: Changes) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name, "documents": changes.documents}
    for field in _CHANGES:
        share = getattr(changes, field)
        shown = "–" if share.value is None else f"{100 * share.value:.1f} ({100 * share.low:.1f}–{100 * share.high:.1f})"
        row[field.replace("_", " ")] = shown
    return row
