"""The page with one's own work: how much on which day, how fast, and how far it agrees with what was decided."""

from __future__ import annotations

from typing import Final

import streamlit as st

from piiloom.annotation_app.dashboard.own_work import OwnAgreement, own_work
from piiloom.annotation_app.dashboard.progress import DayOfWork
from piiloom.annotation_app.event_log import stamp
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.serving.services import get_services
from piiloom.annotation_app.shares import Share
from piiloom.corpus.store.annotation_assignments import own_standing
from piiloom.foundation.words import counted

_DAYS_SHOWN: Final = 30


def own_work_page(person: Person) -> None:
    """Show the work of *person* to themselves."""
    services = get_services()
    with services.shared.reading() as store:
        found = own_work(store, person.name)
        standing = own_standing(store, person.name, stamp(services.log.clock()))
    st.subheader("My work")
    _show_numbers(found.days, standing.done, standing.left)
    _show_agreement(found.agreement)
    if found.days:
        st.markdown("**Day by day**")
        st.table([_row(day) for day in reversed(found.days[-_DAYS_SHOWN:])])


def _show_numbers(days: tuple[DayOfWork, ...], done: int, left: int) -> None:
    seconds, finished = sum(day.seconds for day in days), sum(day.finished for day in days)
    worked = sum(day.finished > 0 for day in days)
    one, two, three, four = st.columns(4)
    one.metric("Records I finished", f"{done:,}")
    two.metric("About so many are left for me", f"{left:,}", help="Unfinished records with a place for you; others may take some of them")
    three.metric("Seconds a record", f"{seconds / finished:,.0f}" if finished else "–", help="Between first and last edit, without breaks")
    four.metric("Records a working day", f"{finished / worked:,.1f}" if worked else "–")


def _show_agreement(found: OwnAgreement | None) -> None:
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


def _row(day: DayOfWork) -> dict[str, str | int]:
    return {
        "day": day.day,
        "accepted": day.accepted,
        "rejected": day.rejected,
        "edits": day.edits,
        "minutes": f"{day.seconds / 60:.1f}",
        "seconds a record": f"{day.seconds / day.finished:.0f}" if day.finished else "–",
    }
