"""The dashboard (progress, changes, suggestions, agreement, hidden controls, errors left), and the page with one's own work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.event_log import stamp
from piiloom.annotation_app.figures.agreement import AgreementFigures, measure_agreement
from piiloom.annotation_app.figures.changes import Acceptance, Changes, label_changes, suggestion_figures
from piiloom.annotation_app.figures.errors_left import ASSUMPTIONS, Estimate, estimate_remaining
from piiloom.annotation_app.figures.intervals import AgreementFigure, Share
from piiloom.annotation_app.figures.work_done import DayOfWork, OwnAgreement, ProjectProgress, own_work, project_progress
from piiloom.annotation_app.onboarding.controls import control_results
from piiloom.annotation_app.people.identity import AppUser
from piiloom.annotation_app.screens.app_cache import CHARTS, AppCache, app_cache, finished_records_of, ready
from piiloom.annotation_app.screens.showing import safe_rows, show_error, show_table
from piiloom.annotation_app.serving.services import get_services
from piiloom.corpus.store.annotation_counts import own_standing
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.words import counted

_SHARED = ("whole_f1", "exact_f1", "boundaries", "types", "relevance")
_ALPHAS = ("boundary_alpha", "type_alpha", "relevance_alpha", "verdict_alpha")
_KAPPAS = ("type_kappa", "relevance_kappa")
_DISPUTED = 20


def show_agreement(cache: AppCache) -> None:
    """Show the agreement figures: overall, for each two people, and by group."""
    finished_records = finished_records_of(cache.services)
    report = cache.figures("agreement", finished_records, lambda: measure_agreement(finished_records, disputed=_DISPUTED))
    if not report.overall.comparisons:
        st.info("No record has been finished by two people yet. Set the overlap to 2 or more for some records.")
        return
    overall = _agreement_row("all", report.overall, _SHARED + _ALPHAS)
    show_table([overall])
    st.caption(
        "Whole f1: same ends, type and relevance. Exact f1: same ends, whatever the labels. Boundaries: how much paired spans "
        "share. Types, relevance: how many of the paired spans have the same. Alphas (Krippendorff) and kappas (Cohen) leave out what "
        "chance would give. In brackets 95% of a bootstrap over records."
    )
    st.markdown("**Each two people**")
    rows = [_agreement_row(" – ".join(people), figures, _SHARED + _KAPPAS) for people, figures in report.by_people.items()]
    show_table(rows)
    by = st.segmented_control("By", ["type", "pair", "day"], default="type", key="agreement_by") or "type"
    groups = {"pair": report.by_pair, "type": report.by_type, "day": report.by_day}[by]
    columns = _SHARED if by == "type" else _SHARED + _ALPHAS
    if groups:
        show_table([_agreement_row(name, figures, columns) for name, figures in groups.items()])
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


def _agreement_row(name: str, figures: AgreementFigures, columns: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name, "records": figures.records}
    return row | {column.replace("_", " "): _shown(getattr(figures, column)) for column in columns}


def _shown(figure: AgreementFigure | float | None) -> str:
    if isinstance(figure, AgreementFigure):
        if figure.value is None:
            return "–"
        known = figure.low is not None and figure.high is not None
        return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})" if known else f"{figure.value:.2f}"
    return "–" if figure is None else f"{figure:.2f}"


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
    rows = [_changes_row("all", changes.overall), *(_changes_row(name, group) for name, group in groups[by].items())]
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


def _changes_row(name: str, changes: Changes) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name, "documents": changes.documents}
    for field in _CHANGES:
        share = getattr(changes, field)
        shown = "–" if share.value is None else f"{100 * share.value:.1f} ({100 * share.low:.1f}–{100 * share.high:.1f})"
        row[field.replace("_", " ")] = shown
    return row


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
    rows = [_estimate_row(" – ".join(pair.people), pair.estimate, pair.records) for pair in found.pairs]
    st.markdown("**Each two people** (Chapman)")
    show_table(rows)
    st.markdown("**All who finished a record** (Chao: a lower bound)")
    show_table([_estimate_row(counted(count, "person"), estimate) for count, estimate in found.lower_bounds.items()])
    st.markdown("What this takes for granted:\n" + "\n".join(f"- {line}" for line in ASSUMPTIONS))


def _estimate_row(name: str, estimate: Estimate, records: int | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"who": name}
    if records is not None:
        row["records"] = records
    left = f"{estimate.left:,.0f} ({max(0.0, estimate.low - estimate.found):,.0f}–{estimate.high - estimate.found:,.0f})"
    return row | {"errors found": estimate.found, "in all, estimated": round(estimate.total), "not found (95%)": left}


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
    rows = [_suggestions_row("all", found.overall), *(_suggestions_row(name, group) for name, group in groups[by].items())]
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


def _suggestions_row(name: str, found: Acceptance) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name}
    row |= {count: getattr(found, count) for count in _COUNTS}
    return row | {"became spans, %": _percent(found.taken), "right as they were, %": _percent(found.unchanged)}


def _percent(share: Share) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} ({100 * share.low:.1f}–{100 * share.high:.1f})"


_DAYS_SHOWN: Final = 30


def own_work_page(person: AppUser) -> None:
    """Show the work of *person* to themselves."""
    services = get_services()
    with services.shared.reading() as store:
        found = own_work(store, person.name)
        standing = own_standing(store, person.name, stamp(services.log.clock()))
    st.subheader("My work")
    _show_own_numbers(found.days, standing.done, standing.left)
    _show_own_agreement(found.agreement)
    if found.days:
        st.markdown("**Day by day**")
        st.table([_day_row(day) for day in reversed(found.days[-_DAYS_SHOWN:])])


def _show_own_numbers(days: tuple[DayOfWork, ...], done: int, left: int) -> None:
    seconds, finished = sum(day.seconds for day in days), sum(day.finished for day in days)
    worked = sum(day.finished > 0 for day in days)
    one, two, three, four = st.columns(4)
    one.metric("Records I finished", f"{done:,}")
    two.metric("About so many are left for me", f"{left:,}", help="Unfinished records with a place for you; others may take some of them")
    three.metric("Seconds a record", f"{seconds / finished:,.0f}" if finished else "–", help="Between first and last edit, without breaks")
    four.metric("Records a working day", f"{finished / worked:,.1f}" if worked else "–")


def _show_own_agreement(found: OwnAgreement | None) -> None:
    st.markdown("**Agreement with what was decided**")
    if found is None:
        st.text("Nothing can be said yet: no record that you and others have finished is decided.")
        return
    st.text(
        f"Of {counted(found.records, 'record')} that others finished, too, and that are decided, as you left them: {_share(found.alike)}. "
        f"Of {counted(found.spans.whole, 'span')} in them, as you have them: {_share(found.spans)}."
    )
    differences = {
        "spans that you do not have": found.missed,
        "spans that you have in addition": found.surplus,
        "spans with other ends": found.ends,
        "spans of another type": found.types,
        "spans of another relevance": found.relevance,
        "records with other words in text or question": found.texts,
    }
    if any(differences.values()):
        st.table([{"what differs": what, "how many": count} for what, count in differences.items() if count])
    st.caption(
        "Not a mark: where people differ, the guidelines may leave something open. Ask about it on the record, or on the page Guidelines."
    )


def _share(share: Share) -> str:
    return f"{share.part:,} ({share.value or 0:.0%})"


def _day_row(day: DayOfWork) -> dict[str, str | int]:
    return {
        "day": day.day,
        "accepted": day.accepted,
        "rejected": day.rejected,
        "edits": day.edits,
        "minutes": f"{day.seconds / 60:.1f}",
        "seconds a record": f"{day.seconds / day.finished:.0f}" if day.finished else "–",
    }


def dashboard_page(_person: AppUser) -> None:
    """Show the figures of the selected part. Only these are computed."""
    cache = app_cache(get_services())
    cache.settling.run_if_due()
    if cache.settling.fault is not None:
        show_error(cache.settling.fault)
    ready(*CHARTS)
    part = st.segmented_control("Part", list(DASHBOARD_PARTS), default=_FIRST, key="dashboard_part", label_visibility="collapsed") or _FIRST
    DASHBOARD_PARTS[part](cache)


def read_ahead() -> None:
    """Load the finished records that the figures are computed from, so that the first person who asks need not wait."""
    with suppress(PiiloomError, RuntimeError):  # the app may have been stopped meanwhile
        finished_records_of(get_services())


def _show_progress(cache: AppCache) -> None:
    services = cache.services
    with services.shared.reading() as store:
        found = project_progress(store, datetime.fromisoformat(services.log.clock().isoformat()).date())
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


def _show_numbers(found: ProjectProgress) -> None:
    decided = sum(found.statuses.get(status, 0) for status in ("validated", "rejected"))
    one, two, three, four, five = st.columns(5)
    one.metric("Records decided", f"{decided:,} of {found.records:,}", help="Validated or rejected, of all in the work list")
    two.metric("Documents finished", f"{found.finished:,}", help="What one person makes of one record is a document; accepted or rejected")
    three.metric("Documents still wanted", f"{found.left:,}", help="Over all unfinished records: people for each, less those who finished")
    four.metric("Documents a working day", "–" if found.per_day is None else f"{found.per_day:,.1f}")
    five.metric("Done on", found.done_on or "–", help="At the pace of the last seven days with work")
    st.progress(decided / found.records)


DASHBOARD_PARTS: Final[dict[str, Callable[[AppCache], None]]] = {
    "Progress": _show_progress,
    "What people change": show_changes,
    "Suggestions": show_suggestions,
    "Agreement": show_agreement,
    "Hidden controls": show_controls,
    "Errors left": show_remaining,
}
_FIRST: Final = next(iter(DASHBOARD_PARTS))
