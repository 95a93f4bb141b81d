"""The part of the suggestions tab that has a detector look through the records, while people go on working."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import BY_ADMIN, field, fields
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.detection_runs import DetectionRun, OfferedDetector
from piiloom.corpus.suggesting import SuggestionReport
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_LOOK_EVERY: Final = timedelta(seconds=2)
# Many detectors are done before somebody has looked up.
_WAIT_S: Final = 1.5


def show_detection(services: Services) -> None:
    """Offer the detectors, or show how the one at work is doing, and how the last one ended."""
    run = services.detection.last
    if run is not None and run.phase == "running":
        _at_work()
        return
    offered = {one.label: one for one in services.detection.offered}
    if not offered:
        return
    with st.form("detection"):
        st.selectbox(
            "Detector that looks through what waits",
            list(offered),
            format_func=lambda one: _told(offered[one]),
            key=field("detection", "label"),
        )
        if any(one.sends for one in offered.values()):
            st.checkbox("The texts may be sent to whom the detector asks (for those that say so)", key=field("detection", "sure"))
        st.form_submit_button("Find suggestions", type="primary", on_click=BY_ADMIN, args=(partial(_start, services),))
    if run is not None:
        _show_end(run)
    st.caption(
        "Others, with a model of yours or one that is asked, are offered if the app is started so: piiloom annotate --detect OPTIONS."
    )


def _told(one: OfferedDetector) -> str:
    return f"{one.label}: {one.about}{' (sends the texts away)' if one.sends else ''}"


def _start(services: Services, admin: Person) -> None:
    asked = fields("detection")
    sends = any(one.sends for one in services.detection.offered if one.label == asked["label"])
    if sends and not asked.get("sure"):
        raise UsageError("this detector sends the texts away", remedy="Tick the box if they may be sent")
    services.detection.start(admin.name, asked["label"])
    services.detection.wait(_WAIT_S)


@st.fragment(run_every=_LOOK_EVERY)
def _at_work() -> None:
    """Look after the run every other second, without the rest of the page."""
    run = get_services().detection.last
    if run is None or run.phase != "running":
        st.rerun()
    st.info(escape_markdown(f"{run.detector.label} is looking through {counted(run.records, 'record')}, since {run.began_at[11:19]} UTC."))
    st.button("Stop it", on_click=BY_ADMIN, args=(_stop,))


def _stop(_admin: Person) -> None:
    get_services().detection.stop()


def _show_end(run: DetectionRun) -> None:
    """Say how the last run ended. It may have been somebody else's, or minutes ago, so it says which one it was."""
    name = f"{run.detector.label}, started by {run.actor} at {run.began_at[11:16]} UTC"
    if run.report is not None:
        st.success(escape_markdown(f"{name}: {suggested(run.report)}"))
    elif run.fault is not None:
        st.warning(escape_markdown(f"{name}, failed: {run.fault}"))
    else:
        st.info(escape_markdown(f"{name}, was stopped. Nothing of it is stored."))


def suggested(report: SuggestionReport) -> str:
    """Return what became of suggestions, in a sentence."""
    counts = report.counts
    said = f"{counted(counts.added, 'new suggestion')} by {report.run.detector} for {counted(report.records, 'record')}"
    return f"{said}; {counts.known:,} were there before, {counts.withdrawn:,} are withdrawn."
