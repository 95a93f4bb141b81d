"""The work list tab: which records are annotated, by how many people each, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import BY_ADMIN, field, fields
from piiloom.annotation_app.serving.services import Services
from piiloom.annotation_app.worklist.pool import PoolReport
from piiloom.annotation_app.worklist.project_settings import MOST_PEOPLE
from piiloom.corpus.store.annotation_items import wanted_counts
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.words import counted

_IMPORTS: Final = "all imported records"
_ALL: Final = "all records of the work list"


def work_list_tab(services: Services, _person: Person) -> None:
    """Offer to add records to the work list, to change the people per record, and to work out the order anew."""
    counts = services.lists.counts()
    said = " · ".join(f"{counted(number, 'record')} {status}" for status, number in counts.items())
    st.text(said or "The work list is empty.")
    with services.shared.reading() as store:
        runs = list_runs(store)
    choices = {run.id: f"run {run.id}: {counted(run.samples, 'record')} by {run.model or run.provider}" for run in reversed(runs)}
    _add(services, choices)
    if counts:
        _people(services, choices)
    st.button(
        "Work out priorities anew",
        help="After new judgements, new suggestions, or other weights (Settings)",
        on_click=BY_ADMIN,
        args=(partial(_prioritise, services),),
    )


def _prioritise(services: Services, admin: Person) -> str:
    return f"Another priority now: {counted(services.pool.prioritise(admin.name), 'record')}."


def _add(services: Services, choices: Mapping[str, str]) -> None:
    overlap = services.settings.current().overlap
    form = f"pool-{overlap}"  # another number in force makes another field, which begins with it
    with st.form("pool"):
        st.selectbox("Records to annotate", [*choices, _IMPORTS], format_func=lambda one: choices.get(one, one), key=field(form, "records"))
        st.number_input("People for each record", 1, MOST_PEOPLE, overlap, key=field(form, "people"))
        st.form_submit_button("Put into the work list", type="primary", on_click=BY_ADMIN, args=(partial(_pool, services, form),))


def _pool(services: Services, form: str, admin: Person) -> str:
    asked = fields(form)
    return pooled_message(services.pool.add(admin.name, **_source(str(asked["records"])), wanted=int(asked["people"])))


def _people(services: Services, choices: Mapping[str, str]) -> None:
    """Show how many people are to annotate the unfinished records, and offer to change it."""
    with services.shared.reading() as store:
        wanted = wanted_counts(store)
    value = max(wanted, key=wanted.__getitem__, default=services.settings.current().overlap)
    form = f"people-{value}"
    with st.form("people"):
        told = ", ".join(f"{counted(people, 'person')} each for {counted(number, 'record')}" for people, number in wanted.items())
        st.text(f"Unfinished records: {told or 'none'}.")
        st.selectbox(
            "Unfinished records among",
            [_ALL, *choices, _IMPORTS],
            format_func=lambda one: choices.get(one, one),
            key=field(form, "records"),
        )
        st.number_input(
            "People for each of them from now on",
            1,
            MOST_PEOPLE,
            value,
            help="With fewer people, records that enough people have finished are decided; with more, they go to further people. "
            "Records that are decided stay as they are.",
            key=field(form, "people"),
        )
        st.form_submit_button("Change the number of people", on_click=BY_ADMIN, args=(partial(_want, services, form),))


def _want(services: Services, form: str, admin: Person) -> str:
    people = int(fields(form)["people"])
    changed = services.pool.want(admin.name, people, **_source(str(fields(form)["records"])))
    each = f"{counted(people, 'person')} for each of {counted(changed, 'unfinished record')}"
    return f"Changed: {each}." if changed else "Nothing was different."


def _source(chosen: str) -> dict[str, Any]:
    return {} if chosen == _ALL else {"imported": True} if chosen == _IMPORTS else {"run_id": chosen}


def pooled_message(report: PoolReport) -> str:
    """Return what became of the records that were to be pooled, for the person who asked."""
    said = f"{report.added:,} added, {report.known:,} were there before"
    if report.otherwise:
        said += f"; {report.otherwise:,} of them are for another number of people: “Change the number of people” changes that"
    return f"{said}."
