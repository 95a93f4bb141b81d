"""The admin page: assignments, settings, training material, and what the command line does while no app runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any
from zlib import crc32

import streamlit as st

from piiloom.annotation_app.onboarding.shipped_exercises import shipped_answers
from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import BY_ADMIN, choice_field, field, fields, with_outcomes
from piiloom.annotation_app.screens.admin_export import export_tab
from piiloom.annotation_app.screens.admin_import import import_tab
from piiloom.annotation_app.screens.admin_people import people_tab
from piiloom.annotation_app.screens.admin_store import backup_tab, stats_tab
from piiloom.annotation_app.screens.admin_suggestions import suggestions_tab
from piiloom.annotation_app.screens.admin_work_list import work_list_tab
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.project_settings import DEFAULT_WEIGHTS
from piiloom.annotation_app.worklist.record_lists import ListQuery
from piiloom.foundation.words import counted


@with_outcomes()
def admin_page(person: Person) -> None:
    """Show the tabs of the admin page."""
    services = get_services()
    parts: dict[str, Callable[[Services, Person], None]] = {
        "Work list": work_list_tab,
        "Assign": _assign,
        "Settings": _settings,
        "Training and controls": _training,
        "People": people_tab,
        "Import": import_tab,
        "Suggestions": suggestions_tab,
        "Export": export_tab,
        "Back up": backup_tab,
        "Stats": stats_tab,
    }
    # A message is about what was just done: going to another tab draws the page anew, without it.
    for tab, draw in zip(st.tabs(list(parts), key="admin_tab", on_change="rerun"), parts.values(), strict=True):
        with tab:
            draw(services, person)


def _assign(services: Services, _person: Person) -> None:
    people = [account.name for account in services.accounts.list() if account.active]
    st.text("Without assignments people take the most urgent record that is free. Assigning deals records out beforehand.")
    with st.form("assign"):
        st.multiselect("People", people, key=field("assign", "people"))
        st.number_input("How many records, the most urgent first", 1, 500, 50, key=field("assign", "number"))
        st.form_submit_button("Deal them out", type="primary", on_click=BY_ADMIN, args=(partial(_deal, services),))
    with st.form("free"):
        st.selectbox("Free all that somebody holds", people, key=choice_field("free", "who", people))
        st.form_submit_button("Free", on_click=BY_ADMIN, args=(partial(_free, services),))


def _deal(services: Services, admin: Person) -> str:
    asked = fields("assign")
    lines = services.lists.find(admin, ListQuery(status="generated", per_page=int(asked["number"]))).lines
    dealt = services.work.assign(admin.name, [line.record_id for line in lines], asked["people"])
    return ", ".join(f"{who}: {count}" for who, count in dealt.items())


def _free(services: Services, admin: Person) -> str:
    number = services.work.leases.release_all(str(fields("free").get("who")), actor=admin.name, assigned=True)
    return f"{counted(number, 'record')} {'is' if number == 1 else 'are'} free again."


def _settings(services: Services, _person: Person) -> None:
    current = services.settings.current()
    # The fields are others once something else is in force: they begin with what is.
    form = f"settings-{crc32(repr(current).encode())}"
    with st.form("settings"):
        st.number_input("People for each record pooled from now on", 1, 50, current.overlap, key=field(form, "overlap"))
        st.toggle("Blind: annotators don't see why a record was labelled so", current.blind, key=field(form, "blind"))
        st.toggle("Annotators may see others' work", current.see_others, key=field(form, "see_others"))
        st.number_input("Minutes that an idle person keeps a record", 1, 1440, current.lease_minutes, key=field(form, "lease_minutes"))
        st.number_input("Unfinished records that one person can hold", 1, 1000, current.lease_limit, key=field(form, "lease_limit"))
        st.toggle("A test has to be passed before work begins", current.qualifying_needed, key=field(form, "qualifying_needed"))
        threshold = float(current.qualifying_threshold)
        st.slider("Score that passes the test", 0.0, 1.0, threshold, key=field(form, "qualifying_threshold"))
        st.slider("Share of hidden control records", 0.0, 0.5, float(current.control_share), key=field(form, "control_share"))
        st.toggle(
            "Order by uncertainty of suggestions: what detectors are least sure of comes first",
            current.by_uncertainty,
            key=field(form, "by_uncertainty"),
        )
        _weights(current.priority_weights, f"{form}-weights")
        st.form_submit_button("Save", type="primary", on_click=BY_ADMIN, args=(partial(_save, services, form),))


def _weights(current: Mapping[str, float], form: str) -> None:
    st.caption("What makes a record urgent, and how much (then work out priorities anew on the tab Work list)")
    columns = st.columns(len(DEFAULT_WEIGHTS))
    for column, name in zip(columns, DEFAULT_WEIGHTS, strict=True):
        column.number_input(name, 0.0, 10.0, float(current.get(name, 0.0)), 0.1, key=field(form, name))


def _save(services: Services, form: str, admin: Person) -> str:
    new: dict[str, Any] = {**fields(form), "priority_weights": fields(f"{form}-weights")}
    before = asdict(services.settings.current())
    changed = [name for name, value in new.items() if value != before[name]]
    for name in changed:
        services.settings.change(admin.name, name, new[name])
    if "by_uncertainty" in changed:
        services.pool.prioritise(admin.name)
    return f"Changed: {', '.join(changed)}." if changed else "Nothing was different."


def _training(services: Services, _person: Person) -> None:
    st.text("The shipped exercises suit any project. Better ones come from your own: take records that are validated.")
    st.button("Add the shipped practice records", on_click=BY_ADMIN, args=(partial(_add_practice, services),))
    st.button("Add the shipped test", on_click=BY_ADMIN, args=(partial(_add_test, services),))
    with st.form("controls"):
        st.number_input("Validated records to make hidden controls of", 1, 500, 20, key=field("controls", "number"))
        st.toggle("Without errors (gold records)", key=field("controls", "gold"))
        st.form_submit_button("Plant", on_click=BY_ADMIN, args=(partial(_plant, services),))


def _add_practice(services: Services, admin: Person) -> str:
    return f"{counted(len(services.practice.add(admin.name, shipped_answers('practice'))), 'practice record')} added."


def _add_test(services: Services, admin: Person) -> str:
    return f"A test of {counted(len(services.test.add_set(admin.name, shipped_answers('qualifying'))), 'record')} added."


def _plant(services: Services, admin: Person) -> str:
    asked = fields("controls")
    lines = services.lists.find(admin, ListQuery(status="validated", per_page=int(asked["number"]))).lines
    ids = [line.record_id for line in lines]
    report = services.controls.add_gold(admin.name, ids) if asked["gold"] else services.controls.plant_errors(admin.name, ids)
    told = f"{counted(sum(report.made.values()), 'control record')} planted."
    told += f" Of {counted(len(report.known), 'record')} there is one already." if report.known else ""
    return told + ("" if ids else " No record is validated yet: controls are made of such.")
