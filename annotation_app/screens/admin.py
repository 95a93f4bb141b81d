"""The admin page: assignments, settings, training material, and what the command line does while no app runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

import streamlit as st

from piiloom.annotation_app.onboarding.shipped_exercises import shipped_answers
from piiloom.annotation_app.people.identity import Person, require
from piiloom.annotation_app.screens.admin_export import export_tab
from piiloom.annotation_app.screens.admin_import import import_tab
from piiloom.annotation_app.screens.admin_people import people_tab
from piiloom.annotation_app.screens.admin_store import backup_tab, stats_tab
from piiloom.annotation_app.screens.admin_suggestions import suggestions_tab
from piiloom.annotation_app.screens.admin_work_list import work_list_tab
from piiloom.annotation_app.screens.escaping import escape_markdown, show_error
from piiloom.annotation_app.serving.current_user import current_person
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.project_settings import DEFAULT_WEIGHTS
from piiloom.annotation_app.worklist.record_lists import ListQuery
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import PiiloomError

_SAID = "admin_said"


def admin_page(person: Person) -> None:
    """Show the tabs of the admin page."""
    services = get_services()
    parts: dict[str, Callable[[Services, Person], None]] = {
        "Work list": lambda place, who: work_list_tab(place, who, done),
        "Assign": _assign,
        "Settings": _settings,
        "Training and controls": _training,
        "People": lambda place, _: people_tab(place, done),
        "Import": import_tab,
        "Suggestions": suggestions_tab,
        "Export": export_tab,
        "Back up": backup_tab,
        "Stats": stats_tab,
    }
    with st.container():  # always drawn: tabs that move on the page jump back to the first
        if said := st.session_state.pop(_SAID, ""):
            st.success(escape_markdown(said))
    # A message is about what was just done: going to another tab draws the page anew, without it.
    for tab, draw in zip(st.tabs(list(parts), key="admin_tab", on_change="rerun"), parts.values(), strict=True):
        with tab:
            draw(services, person)


def done(act: Callable[[str], str]) -> None:
    """Run *act* as the current admin and rerun the page. *act* gets the admin's name and returns the message to show.

    The role is checked again. A ``PiiloomError`` is shown as a warning.
    """
    try:
        st.session_state[_SAID] = act(require(current_person(), "admin").name)
    except PiiloomError as error:
        show_error(error)
    else:
        st.rerun()  # what is already drawn shows the old state


def _assign(services: Services, person: Person) -> None:
    people = [account.name for account in services.accounts.list() if account.active]
    st.text("Without assignments people take the most urgent record that is free. Assigning deals records out beforehand.")
    with st.form("assign"):
        chosen = st.multiselect("People", people)
        number = st.number_input("How many records, the most urgent first", 1, 500, 50)
        if st.form_submit_button("Deal them out", type="primary"):

            def deal(name: str) -> str:
                lines = services.lists.find(person, ListQuery(status="generated", per_page=int(number))).lines
                dealt = services.work.assign(name, [line.record_id for line in lines], chosen)
                return ", ".join(f"{who}: {count}" for who, count in dealt.items())

            done(deal)
    with st.form("free"):
        who = st.selectbox("Free all that somebody holds", people)
        if st.form_submit_button("Free"):

            def free(name: str) -> str:
                number = services.work.leases.release_all(str(who), actor=name, assigned=True)
                return f"{counted(number, 'record')} {'is' if number == 1 else 'are'} free again."

            done(free)


def _settings(services: Services, _person: Person) -> None:
    current = services.settings.current()
    with st.form("settings"):
        new = {
            "overlap": int(st.number_input("People for each record pooled from now on", 1, 50, current.overlap)),
            "blind": st.toggle("Blind: annotators don't see why a record was labelled so", current.blind),
            "see_others": st.toggle("Annotators may see others' work", current.see_others),
            "lease_minutes": int(st.number_input("Minutes that an idle person keeps a record", 1, 1440, current.lease_minutes)),
            "lease_limit": int(st.number_input("Unfinished records that one person can hold", 1, 1000, current.lease_limit)),
            "qualifying_needed": st.toggle("A test has to be passed before work begins", current.qualifying_needed),
            "qualifying_threshold": st.slider("Score that passes the test", 0.0, 1.0, float(current.qualifying_threshold)),
            "control_share": st.slider("Share of hidden control records", 0.0, 0.5, float(current.control_share)),
            "by_uncertainty": st.toggle(
                "Order by uncertainty of suggestions: what detectors are least sure of comes first", current.by_uncertainty
            ),
            "priority_weights": _weights(current.priority_weights),
        }
        if st.form_submit_button("Save", type="primary"):
            before = asdict(current)

            def save(name: str) -> str:
                changed = [field for field, value in new.items() if value != before[field]]
                for field in changed:
                    services.settings.change(name, field, new[field])
                if "by_uncertainty" in changed:
                    services.pool.prioritise(name)
                return f"Changed: {', '.join(changed)}." if changed else "Nothing was different."

            done(save)


def _weights(current: Mapping[str, float]) -> dict[str, float]:
    st.caption("What makes a record urgent, and how much (then work out priorities anew on the tab Work list)")
    columns = st.columns(len(DEFAULT_WEIGHTS))
    names = zip(columns, DEFAULT_WEIGHTS, strict=True)
    return {name: float(column.number_input(name, 0.0, 10.0, float(current.get(name, 0.0)), 0.1)) for column, name in names}


def _training(services: Services, person: Person) -> None:
    st.text("The shipped exercises suit any project. Better ones come from your own: take records that are validated.")
    if st.button("Add the shipped practice records"):
        done(lambda name: f"{counted(len(services.practice.add(name, shipped_answers('practice'))), 'practice record')} added.")
    if st.button("Add the shipped test"):
        done(lambda name: f"A test of {counted(len(services.test.add_set(name, shipped_answers('qualifying'))), 'record')} added.")
    with st.form("controls"):
        number = st.number_input("Validated records to make hidden controls of", 1, 500, 20)
        gold = st.toggle("Without errors (gold records)")
        if st.form_submit_button("Plant"):

            def plant(name: str) -> str:
                lines = services.lists.find(person, ListQuery(status="validated", per_page=int(number))).lines
                ids = [line.record_id for line in lines]
                report = services.controls.add_gold(name, ids) if gold else services.controls.plant_errors(name, ids)
                told = f"{counted(sum(report.made.values()), 'control record')} planted."
                told += f" Of {counted(len(report.known), 'record')} there is one already." if report.known else ""
                return told + ("" if ids else " No record is validated yet: controls are made of such.")

            done(plant)
