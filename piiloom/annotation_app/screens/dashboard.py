"""The dashboard (progress, changes, suggestions, agreement, hidden controls, errors left), and the page with one's own work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TypeVar

import streamlit as st

from piiloom.annotation_app.event_log import stamp
from piiloom.annotation_app.figures.agreement import ASSUMPTIONS, AgreementFigures, Estimate, estimate_remaining, measure_agreement
from piiloom.annotation_app.figures.changes import (
    Acceptance,
    Changes,
    GroupedFigures,
    OwnAgreement,
    label_changes,
    own_work,
    project_progress,
    suggestion_figures,
)
from piiloom.annotation_app.figures.intervals import AgreementFigure, Share
from piiloom.annotation_app.onboarding.controls import control_results
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.screens.showing import show_bars, show_error, show_metrics, show_table
from piiloom.annotation_app.screens.tab_state import CHARTS, AppCache, app_cache, finished_records_of, ready
from piiloom.annotation_app.serving.services import get_services
from piiloom.corpus.store.annotation_events import DayOfWork
from piiloom.corpus.store.annotation_project import own_standing
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.words import counted

_Figures = TypeVar("_Figures")
_SHARED = ("whole_f1", "exact_f1", "boundaries", "types", "relevance")
_ALPHAS = ("boundary_alpha", "type_alpha", "relevance_alpha", "verdict_alpha")
_KAPPAS = ("type_kappa", "relevance_kappa")
_DISPUTED = 20
_CHANGES = ("rejected", "added", "removed", "moved", "retyped", "relevance_flipped", "question_edited", "context_edited")
_DAYS_SHOWN: Final = 30


def dashboard_page(_person: AppUser) -> None:
    """Show the figures of the selected part. Only these are computed."""
    cache = app_cache(get_services())
    cache.settling.run_if_due()
    if cache.settling.fault is not None:
        show_error(cache.settling.fault)
    ready(*CHARTS)
    first = next(iter(DASHBOARD_PARTS))
    part = st.segmented_control("Part", list(DASHBOARD_PARTS), default=first, key="dashboard_part", label_visibility="collapsed") or first
    DASHBOARD_PARTS[part](cache)


def read_ahead() -> None:
    """Load the finished records that the figures are computed from, so that the first person who asks need not wait."""
    with suppress(PiiloomError, RuntimeError):  # the app may have been stopped meanwhile
        finished_records_of(get_services())


def _chosen_group(by: Mapping[str, Mapping[str, _Figures]], key: str) -> tuple[str, Mapping[str, _Figures]]:
    """Ask by what to group; the first way of *by* is chosen at the beginning."""
    first = next(iter(by))
    chosen = st.segmented_control("By", list(by), default=first, key=key) or first
    return chosen, by[chosen]


def _show_groups(found: GroupedFigures[_Figures], key: str, row: Callable[[str, _Figures], dict[str, Any]]) -> None:
    _, groups = _chosen_group(found.by, key)
    show_table([row("all", found.overall), *(row(name, group) for name, group in groups.items())])


def _percent(share: Share) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} ({100 * share.low:.1f}–{100 * share.high:.1f})"


def _per_document(day: DayOfWork) -> str:
    return f"{day.seconds / day.finished:.0f}" if day.finished else "–"


def _show_progress(cache: AppCache) -> None:
    services = cache.services
    with services.shared.reading() as store:
        found = project_progress(store, datetime.fromisoformat(services.log.clock().isoformat()).date())
    if not found.records:
        st.info("The work list is empty. An admin puts records into it on the page Admin.")
        return
    decided = sum(found.statuses.get(status, 0) for status in ("validated", "rejected"))
    show_metrics(
        ("Records decided", f"{decided:,} of {found.records:,}", "Validated or rejected, of all in the work list"),
        ("Documents finished", f"{found.finished:,}", "What one person makes of one record is a document; accepted or rejected"),
        ("Documents still wanted", f"{found.left:,}", "Over all unfinished records: people for each, less those who finished"),
        ("Documents a working day", "–" if found.per_day is None else f"{found.per_day:,.1f}"),
        ("Done on", found.done_on or "–", "At the pace of the last seven days with work"),
    )
    st.progress(decided / found.records)
    left, right = st.columns([2, 3])
    with left:
        st.caption("Records by status")
        rows = [{"status": f"{number} {status}", "records": count} for number, (status, count) in enumerate(found.statuses.items(), 1)]
        show_bars(rows, x="status", y="records", horizontal=True)
    with right:
        st.caption("Documents finished by person and day (a document is what one person makes of one record)")
        days = [{"day": day.day, "person": day.person, "finished": day.finished} for day in found.days if day.finished]
        show_bars(days, "None yet.", x="day", y="finished", color="person")
    if found.days:
        show_table([_progress_row(day) for day in reversed(found.days)])


def _progress_row(day: DayOfWork) -> dict[str, Any]:
    return {
        "day": day.day,
        "person": day.person,
        "accepted": day.accepted,
        "rejected": day.rejected,
        "edits": day.edits,
        "minutes": round(day.seconds / 60, 1),
        "seconds a document": _per_document(day),
    }


def _show_changes(cache: AppCache) -> None:
    finished_records = finished_records_of(cache.services)
    if not finished_records:
        st.info("Nobody has finished a record yet.")
        return
    changes = cache.figures("changes", finished_records, lambda: label_changes(finished_records))
    _show_groups(changes, "changes_by", _changes_row)
    st.caption(
        "Percent, with 95% intervals (Wilson). Of spans: added, removed, moved, retyped, relevance flipped. Of documents: the others. "
        "Records that came in without a model or a prompt count under “all” alone."
    )
    st.caption("Percent changed, over all")
    shares = changes.overall.shares
    plotted = [{"change": name.replace("_", " "), "percent": round(100 * (shares[name].value or 0.0), 2)} for name in _CHANGES]
    show_bars(plotted, x="change", y="percent", horizontal=True, sort="-percent", height=280)


def _changes_row(name: str, found: Changes) -> dict[str, Any]:
    return {
        "group": name,
        "documents": found.documents,
        **{change.replace("_", " "): _percent(found.shares[change]) for change in _CHANGES},
    }


def _show_suggestions(cache: AppCache) -> None:
    with cache.services.shared.reading() as store:
        found = suggestion_figures(store)
    if not found.by["detector"]:
        st.info("No detector has suggested anything for the work list. Admins upload suggestions on the page Admin.")
        return
    _show_groups(found, "suggestions_by", _suggestions_row)
    st.caption(
        "Each suggestion counts once for each person who has worked on its record. Rates are of those decided, in percent, with 95% "
        "intervals (Wilson). Withdrawn: not decided before its words were edited or its detector took it back. Waiting: nobody has "
        "begun the record."
    )
    st.caption("What became of the suggestions, by score: where scores are right, a bucket is accepted as often as it says")
    plotted = [
        {"score": name, "what": what, "suggestions": group.counts[what]}
        for name, group in found.by["score"].items()
        for what in ("accepted", "changed", "refused")
        if group.counts[what]
    ]
    show_bars(plotted, "None is decided yet.", x="score", y="suggestions", color="what")


def _suggestions_row(name: str, found: Acceptance) -> dict[str, Any]:
    rates = {"became spans, %": _percent(found.taken), "right as they were, %": _percent(found.unchanged)}
    return {"group": name, **found.counts, **rates}


def _show_agreement(cache: AppCache) -> None:
    finished_records = finished_records_of(cache.services)
    report = cache.figures("agreement", finished_records, lambda: measure_agreement(finished_records, disputed=_DISPUTED))
    if not report.overall.comparisons:
        st.info("No record has been finished by two people yet. Set the overlap to 2 or more for some records.")
        return
    show_table([_agreement_row("all", report.overall, _SHARED + _ALPHAS)])
    st.caption(
        "Whole f1: same ends, type and relevance. Exact f1: same ends, whatever the labels. Boundaries: how much paired spans "
        "share. Types, relevance: how many of the paired spans have the same. Alphas (Krippendorff) and kappas (Cohen) leave out what "
        "chance would give. In brackets 95% of a bootstrap over records."
    )
    st.markdown("**Each two people**")
    show_table([_agreement_row(" – ".join(people), figures, _SHARED + _KAPPAS) for people, figures in report.by_people.items()])
    by, groups = _chosen_group(report.by, "agreement_by")
    if groups:
        show_table([_agreement_row(name, figures, _SHARED if by == "type" else _SHARED + _ALPHAS) for name, figures in groups.items()])
    else:
        st.text("These records have no planned pair.")
    if by == "day" and len(groups) > 1:
        plotted = [
            {"day": day, "figure": name.replace("_", " "), "value": figures.values[name].value}
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


def _agreement_row(name: str, found: AgreementFigures, columns: Sequence[str]) -> dict[str, Any]:
    return {
        "group": name,
        "records": found.records,
        **{column.replace("_", " "): _with_interval(found.values[column]) for column in columns},
    }


def _with_interval(found: AgreementFigure) -> str:
    if found.value is None:
        return "–"
    known = found.low is not None and found.high is not None
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})" if known else f"{found.value:.2f}"


def _show_controls(cache: AppCache) -> None:
    results = control_results(cache.services.shared)
    if not results:
        st.info("No hidden control record has been finished yet. Admins plant them on the page Admin.")
        return
    rows = [
        {
            "person": one.person,
            "planted errors found": _part_of(one.found),
            "recall": "–" if one.found.value is None else f"{one.found.value:.0%}",
            "95%": f"{one.found.low:.0%}–{one.found.high:.0%}",
            **{kind.replace("_", " "): _part_of(share) for kind, share in one.by_kind.items()},
            "good records kept": _part_of(one.kept),
            "other changes": one.other_changes,
        }
        for one in results
    ]
    show_table(rows)
    st.caption("Control records look like work. Intervals are Wilson's; with a handful of controls they are wide.")


def _part_of(share: Share) -> str:
    return f"{share.part} of {share.whole}"


def _show_remaining(cache: AppCache) -> None:
    finished_records = finished_records_of(cache.services)
    found = cache.figures("remaining", finished_records, lambda: estimate_remaining(finished_records))
    if not found.pairs:
        st.info("This needs records that two people have finished. Set the overlap to 2 or more for some records.")
        return
    st.caption("Errors of the generated records, estimated from how often two people found the same one (capture–recapture).")
    st.markdown("**Each two people** (Chapman)")
    show_table([{"who": " – ".join(one.people), "records": one.records, **_estimate_cells(one.estimate)} for one in found.pairs])
    st.markdown("**All who finished a record** (Chao: a lower bound)")
    show_table([{"who": counted(count, "person"), **_estimate_cells(estimate)} for count, estimate in found.lower_bounds.items()])
    st.markdown("What this takes for granted:\n" + "\n".join(f"- {line}" for line in ASSUMPTIONS))


def _estimate_cells(found: Estimate) -> dict[str, Any]:
    left = f"{found.left:,.0f} ({max(0.0, found.low - found.found):,.0f}–{found.high - found.found:,.0f})"
    return {"errors found": found.found, "in all, estimated": round(found.total), "not found (95%)": left}


DASHBOARD_PARTS: Final[dict[str, Callable[[AppCache], None]]] = {
    "Progress": _show_progress,
    "What people change": _show_changes,
    "Suggestions": _show_suggestions,
    "Agreement": _show_agreement,
    "Hidden controls": _show_controls,
    "Errors left": _show_remaining,
}


def own_work_page(person: AppUser) -> None:
    """Show the work of *person* to themselves: how much on which day, how fast, and how far it agrees with what was decided."""
    services = get_services()
    with services.shared.reading() as store:
        days, agreement = own_work(store, person.name)
        standing = own_standing(store, person.name, stamp(services.log.clock()))
    st.subheader("My work")
    seconds, finished = sum(day.seconds for day in days), sum(day.finished for day in days)
    worked = sum(day.finished > 0 for day in days)
    show_metrics(
        ("Records I finished", f"{standing.done:,}"),
        ("About so many are left for me", f"{standing.left:,}", "Unfinished records with a place for you; others may take some of them"),
        ("Seconds a record", f"{seconds / finished:,.0f}" if finished else "–", "Between first and last edit, without breaks"),
        ("Records a working day", f"{finished / worked:,.1f}" if worked else "–"),
    )
    _show_own_agreement(agreement)
    if days:
        st.markdown("**Day by day**")
        st.table([_day_row(day) for day in reversed(days[-_DAYS_SHOWN:])])


def _show_own_agreement(found: OwnAgreement | None) -> None:
    st.markdown("**Agreement with what was decided**")
    if found is None:
        st.text("Nothing can be said yet: no record that you and others have finished is decided.")
        return
    alike, spans = (f"{share.part:,} ({share.value or 0:.0%})" for share in (found.alike, found.spans))
    st.text(
        f"Of {counted(found.alike.whole, 'record')} that others finished, too, and that are decided, as you left them: {alike}. "
        f"Of {counted(found.spans.whole, 'span')} in them, as you have them: {spans}."
    )
    differences = {
        "spans that you do not have": found.kinds["only_left"],
        "spans that you have in addition": found.kinds["only_right"],
        "spans with other ends": found.kinds["boundary"],
        "spans of another type": found.kinds["type"],
        "spans of another relevance": found.kinds["relevance"],
        "records with other words in text or question": found.texts,
    }
    if any(differences.values()):
        st.table([{"what differs": what, "how many": count} for what, count in differences.items() if count])
    st.caption(
        "Not a mark: where people differ, the guidelines may leave something open. Ask about it on the record, or on the page Guidelines."
    )


def _day_row(day: DayOfWork) -> dict[str, str | int]:
    return {
        "day": day.day,
        "accepted": day.accepted,
        "rejected": day.rejected,
        "edits": day.edits,
        "minutes": f"{day.seconds / 60:.1f}",
        "seconds a record": _per_document(day),
    }
