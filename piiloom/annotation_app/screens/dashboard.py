"""The dashboard page: progress, what people change and make of suggestions, agreement, hidden controls, an estimate of errors left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Final

import streamlit as st

from piiloom.annotation_app.dashboard.progress import Progress, progress
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.app_cache import AppCache, app_cache, finished_records_of
from piiloom.annotation_app.screens.dashboard_agreement import show_agreement
from piiloom.annotation_app.screens.dashboard_changes import show_changes
from piiloom.annotation_app.screens.dashboard_errors import show_controls, show_remaining
from piiloom.annotation_app.screens.dashboard_suggestions import show_suggestions
from piiloom.annotation_app.screens.escaping import show_error
from piiloom.annotation_app.screens.preloading import CHARTS, ready
from piiloom.annotation_app.screens.tables import safe_rows, show_table
from piiloom.annotation_app.serving.services import get_services
from piiloom.foundation.errors import PiiloomError


def dashboard_page(_person: Person) -> None:
    """Show the figures of the selected part. Only these are computed."""
    cache = app_cache(get_services())
    cache.settling.run_if_due()
    if cache.settling.fault is not None:
        show_error(cache.settling.fault)
    ready(*CHARTS)
    part = st.segmented_control("Part", list(PARTS), default=_FIRST, key="dashboard_part", label_visibility="collapsed") or _FIRST
    PARTS[part](cache)


def read_ahead() -> None:
    """Load the finished records that the figures are computed from, so that the first person who asks need not wait."""
    with suppress(PiiloomError, RuntimeError):  # the app may have been stopped meanwhile
        finished_records_of(get_services())


def _show_progress(cache: AppCache) -> None:
    services = cache.services
    with services.shared.reading() as store:
        found = progress(store, datetime.fromisoformat(services.log.clock().isoformat()).date())
    if not found.records:
        st.info("The work list is empty. An admin puts records into it on the page Admin.")
        return
    _show_numbers(found)
    left, right = st.columns([2, 3])
    with left:
        st.caption("Records by status")
        rows = [{"status": f"{number} {status}", "records": count} for number, (status, count) in enumerate(found.statuses.items(), 1)]
        st.bar_chart(safe_rows(rows), x="status", y="records", horizontal=True, height=260, x_label="", y_label="")
    with right:
        st.caption("Documents finished by person and day (a document is what one person makes of one record)")
        days = [{"day": day.day, "person": day.person, "finished": day.finished} for day in found.days if day.finished]
        if days:
            st.bar_chart(safe_rows(days), x="day", y="finished", color="person", height=260, x_label="", y_label="")
        else:
            st.text("None yet.")
    if found.days:
        table = [
            {
                "day": day.day,
                "person": day.person,
                "accepted": day.accepted,
                "rejected": day.rejected,
                "edits": day.edits,
                "minutes": round(day.seconds / 60, 1),
                "seconds a document": f"{day.seconds / day.finished:.0f}" if day.finished else "–",
            }
            for day in reversed(found.days)
        ]
        show_table(table)


def _show_numbers(found: Progress) -> None:
    decided = sum(found.statuses.get(status, 0) for status in ("validated", "rejected"))
    one, two, three, four, five = st.columns(5)
    one.metric("Records decided", f"{decided:,} of {found.records:,}", help="Validated or rejected, of all in the work list")
    two.metric("Documents finished", f"{found.finished:,}", help="What one person makes of one record is a document; accepted or rejected")
    three.metric("Documents still wanted", f"{found.left:,}", help="Over all unfinished records: people for each, less those who finished")
    four.metric("Documents a working day", "–" if found.per_day is None else f"{found.per_day:,.1f}")
    five.metric("Done on", found.done_on or "–", help="At the pace of the last seven days with work")
    st.progress(decided / found.records)


PARTS: Final[dict[str, Callable[[AppCache], None]]] = {
    "Progress": _show_progress,
    "What people change": show_changes,
    "Suggestions": show_suggestions,
    "Agreement": show_agreement,
    "Hidden controls": show_controls,
    "Errors left": show_remaining,
}
_FIRST: Final = next(iter(PARTS))
