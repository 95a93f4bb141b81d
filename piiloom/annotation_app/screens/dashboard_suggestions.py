"""What people make of suggestions: accepted, changed and refused, by detector, type and score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from piiloom.annotation_app.dashboard.suggestion_figures import Acceptance, suggestion_figures
from piiloom.annotation_app.screens.app_cache import AppCache
from piiloom.annotation_app.screens.tables import safe_rows, show_table
from piiloom.annotation_app.shares import Share

_COUNTS = ("shown", "accepted", "changed", "refused", "open", "withdrawn", "waiting")


def show_suggestions(cache: AppCache) -> None:
    """Show the counts and rates, overall and by group."""
    with cache.services.shared.reading() as store:
        found = suggestion_figures(store)
    if not found.by_detector:
        st.info("No detector has suggested anything for the work list. Admins upload suggestions on the page Admin.")
        return
    by = st.segmented_control("By", ["detector", "type", "score"], default="detector", key="suggestions_by") or "detector"
    groups: Mapping[str, Mapping[str, Acceptance]] = {"detector": found.by_detector, "type": found.by_type, "score": found.by_score}
    rows = [_row("all", found.overall), *(_row(name, group) for name, group in groups[by].items())]
    show_table(rows)
    st.caption(
        "Each suggestion counts once for each person who has worked on its record. Rates are of those decided, in percent, with 95% "
        "intervals (Wilson). Withdrawn: not decided before its words were edited or its detector took it back. Waiting: nobody has "
        "begun the record."
    )
    st.caption("What became of the suggestions, by score: where scores are right, a bucket is accepted as often as it says")
    plotted = [
        {"score": name, "what": what, "suggestions": getattr(group, what)}
        for name, group in found.by_score.items()
        for what in ("accepted", "changed", "refused")
        if getattr(group, what)
    ]
    if plotted:
        st.bar_chart(safe_rows(plotted), x="score", y="suggestions", color="what", height=260, x_label="", y_label="")
    else:
        st.text("None is decided yet.")


def _row(name: str, found: Acceptance) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name}
    row |= {count: getattr(found, count) for count in _COUNTS}
    return row | {"became spans, %": _percent(found.taken), "right as they were, %": _percent(found.unchanged)}


def _percent(share: Share) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} ({100 * share.low:.1f}–{100 * share.high:.1f})"
