"""How good the work is: planted errors that people found, and an estimate of the errors that nobody has found."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotation_app.agreement.readings import Reading
from annotation_app.onboarding.capture_recapture import ASSUMPTIONS, Estimate
from annotation_app.onboarding.control_results import control_results
from annotation_app.onboarding.finding import estimate_remaining
from annotation_app.screens.kept_figures import Office

# The estimate takes seconds over thousands of records, and nobody needs it to the minute.
_GOOD_FOR_S = 120.0


def show_controls(office: Office, _readings: list[Reading]) -> None:
    """Show who found how many of the planted errors."""
    results = control_results(office.workplace.shared)
    if not results:
        st.info("No hidden control record has been finished yet. Admins plant them on the page Admin.")
        return
    rows = []
    for one in results:
        low, high = one.found.interval
        row: dict[str, Any] = {"person": one.person, "planted errors found": f"{one.found.hits} of {one.found.tries}"}
        row |= {"recall": "–" if one.found.value is None else f"{one.found.value:.0%}", "95%": f"{low:.0%}–{high:.0%}"}
        row |= {kind.replace("_", " "): f"{share.hits} of {share.tries}" for kind, share in one.by_kind.items()}
        row |= {"good records kept": f"{one.kept.hits} of {one.kept.tries}", "other changes": one.other_changes}
        rows.append(row)
    st.dataframe(rows, hide_index=True, width="stretch")
    st.caption("Control records look like work. Intervals are Wilson's; with a handful of controls they are wide.")


def show_remaining(office: Office, readings: list[Reading]) -> None:
    """Show how many errors people found twice, and how many that leaves unfound."""
    with st.spinner("Working it out …"):
        found = office.figures("remaining", readings, lambda: estimate_remaining(office.workplace.shared), good_for_s=_GOOD_FOR_S)
    if not found.pairs:
        st.info("This needs records that two people have finished. Set the overlap to 2 or more for some records.")
        return
    st.caption("Errors of the generated records, estimated from how often two people found the same one (capture–recapture).")
    rows = [_row(" – ".join(pair.people), pair.estimate, pair.records) for pair in found.pairs]
    st.markdown("**Each two people** (Chapman)")
    st.dataframe(rows, hide_index=True, width="stretch")
    st.markdown("**All who finished a record** (Chao: a lower bound)")
    st.dataframe([_row(f"{count} people", estimate) for count, estimate in found.lower_bounds.items()], hide_index=True, width="stretch")
    st.markdown("What this takes for granted:\n" + "\n".join(f"- {line}" for line in ASSUMPTIONS))


def _row(name: str, estimate: Estimate, records: int | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"who": name}
    if records is not None:
        row["records"] = records
    left = f"{estimate.left:,.0f} ({max(0.0, estimate.low - estimate.found):,.0f}–{estimate.high - estimate.found:,.0f})"
    return row | {"errors found": estimate.found, "in all, estimated": round(estimate.total), "not found (95%)": left}
