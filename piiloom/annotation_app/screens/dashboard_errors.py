"""How good the work is: planted errors that people found, and an estimate of the errors that nobody has found."""

from __future__ import annotations

from typing import Any

import streamlit as st

from piiloom.annotation_app.onboarding.capture_recapture import ASSUMPTIONS, Estimate
from piiloom.annotation_app.onboarding.control_results import control_results
from piiloom.annotation_app.onboarding.errors_found import estimate_remaining
from piiloom.annotation_app.screens.app_cache import AppCache, finished_records_of
from piiloom.annotation_app.screens.tables import show_table
from piiloom.foundation.words import counted


def show_controls(cache: AppCache) -> None:
    """Show how many of the planted errors each person found."""
    results = control_results(cache.services.shared)
    if not results:
        st.info("No hidden control record has been finished yet. Admins plant them on the page Admin.")
        return
    rows = []
    for one in results:
        row: dict[str, Any] = {"person": one.person, "planted errors found": f"{one.found.part} of {one.found.whole}"}
        row |= {"recall": "–" if one.found.value is None else f"{one.found.value:.0%}", "95%": f"{one.found.low:.0%}–{one.found.high:.0%}"}
        row |= {kind.replace("_", " "): f"{share.part} of {share.whole}" for kind, share in one.by_kind.items()}
        row |= {"good records kept": f"{one.kept.part} of {one.kept.whole}", "other changes": one.other_changes}
        rows.append(row)
    show_table(rows)
    st.caption("Control records look like work. Intervals are Wilson's; with a handful of controls they are wide.")


def show_remaining(cache: AppCache) -> None:
    """Show how many errors are estimated to be left, from how often two people found the same one."""
    finished_records = finished_records_of(cache.services)
    found = cache.figures("remaining", finished_records, lambda: estimate_remaining(finished_records))
    if not found.pairs:
        st.info("This needs records that two people have finished. Set the overlap to 2 or more for some records.")
        return
    st.caption("Errors of the generated records, estimated from how often two people found the same one (capture–recapture).")
    rows = [_row(" – ".join(pair.people), pair.estimate, pair.records) for pair in found.pairs]
    st.markdown("**Each two people** (Chapman)")
    show_table(rows)
    st.markdown("**All who finished a record** (Chao: a lower bound)")
    show_table([_row(counted(count, "person"), estimate) for count, estimate in found.lower_bounds.items()])
    st.markdown("What this takes for granted:\n" + "\n".join(f"- {line}" for line in ASSUMPTIONS))


def _row(name: str, estimate: Estimate, records: int | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"who": name}
    if records is not None:
        row["records"] = records
    left = f"{estimate.left:,.0f} ({max(0.0, estimate.low - estimate.found):,.0f}–{estimate.high - estimate.found:,.0f})"
    return row | {"errors found": estimate.found, "in all, estimated": round(estimate.total), "not found (95%)": left}
