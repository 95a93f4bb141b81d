"""The admin page: work list, assignments, settings, training material, people, snapshots and figures of the store."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final
from zlib import crc32

import streamlit as st

from piiloom.annotation_app.onboarding.exercises import shipped_answers
from piiloom.annotation_app.people.accounts import ROLES, AppUser
from piiloom.annotation_app.screens.admin_files import export_tab, import_tab, suggestions_tab
from piiloom.annotation_app.screens.showing import escape_markdown, show_metrics, show_table
from piiloom.annotation_app.screens.tab_state import BY_ADMIN, choice_field, field_key, fields, with_outcomes
from piiloom.annotation_app.serving.services import Services, get_services
from piiloom.annotation_app.worklist.assigning import DEFAULT_WEIGHTS, MOST_PEOPLE
from piiloom.annotation_app.worklist.pool import ListQuery, PoolReport
from piiloom.corpus.store.annotation_items import wanted_counts
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import count_reasons, list_runs
from piiloom.corpus.store.store_files import list_snapshots
from piiloom.foundation.words import counted

_IMPORTS: Final = "all imported records"
_ALL: Final = "all records of the work list"


def work_list_tab(services: Services, _person: AppUser) -> None:
    """Offer to add records to the work list, to change the people per record, and to work out the order anew."""
    counts = services.lists.counts()
    said = " · ".join(f"{counted(number, 'record')} {status}" for status, number in counts.items())
    st.text(said or "The work list is empty.")
    with services.shared.reading() as store:
        runs = list_runs(store)
    choices = {run.id: f"run {run.id}: {counted(run.samples, 'record')} by {run.model or run.provider}" for run in reversed(runs)}
    _offer_pool(services, choices)
    if counts:
        _people(services, choices)
    st.button(
        "Work out priorities anew",
        help="After new judgements, new suggestions, or other weights (Settings)",
        on_click=BY_ADMIN,
        args=(partial(_prioritise, services),),
    )


def _prioritise(services: Services, admin: AppUser) -> str:
    return f"Another priority now: {counted(services.pool.prioritise(admin.name), 'record')}."


def _offer_pool(services: Services, choices: Mapping[str, str]) -> None:
    overlap = services.settings.current().overlap
    form = f"pool-{overlap}"  # another number in force makes another field, which begins with it
    with st.form("pool"):
        st.selectbox(
            "Records to annotate", [*choices, _IMPORTS], format_func=lambda one: choices.get(one, one), key=field_key(form, "records")
        )
        st.number_input("People for each record", 1, MOST_PEOPLE, overlap, key=field_key(form, "people"))
        st.form_submit_button("Put into the work list", type="primary", on_click=BY_ADMIN, args=(partial(_pool, services, form),))


def _pool(services: Services, form: str, admin: AppUser) -> str:
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
            key=field_key(form, "records"),
        )
        st.number_input(
            "People for each of them from now on",
            1,
            MOST_PEOPLE,
            value,
            help="With fewer people, records that enough people have finished are decided; with more, they go to further people. "
            "Records that are decided stay as they are.",
            key=field_key(form, "people"),
        )
        st.form_submit_button("Change the number of people", on_click=BY_ADMIN, args=(partial(_want, services, form),))


def _want(services: Services, form: str, admin: AppUser) -> str:
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


_OUT, _IN = "no access", "access again"


def people_tab(services: Services, _person: AppUser) -> None:
    """List the accounts; add and change them."""
    accounts = services.accounts.list()
    rows = [
        {
            "name": one.name,
            "display": one.display,
            "role": one.role,
            "active": one.active,
            "password": one.has_password,
            "OIDC": one.oidc or "",
        }
        for one in accounts
    ]
    show_table(rows)
    names = [one.name for one in accounts]
    first, second, third = st.columns(3)
    with first, st.form("account", clear_on_submit=True):
        st.text("A new account")
        st.text_input("Name", key=field_key("account", "name"))
        st.text_input("Shown to others as", placeholder="the name", key=field_key("account", "display"))
        st.selectbox("Role", ROLES, key=field_key("account", "role"))
        st.text_input("Password", type="password", autocomplete="new-password", key=field_key("account", "password"))
        st.text_input("or the e-mail address of an OIDC login", key=field_key("account", "oidc"))
        st.form_submit_button("Add", on_click=BY_ADMIN, args=(partial(_add_account, services),))
    with second, st.form("role"):
        st.text("Another role, or none")
        st.selectbox("Change", names, key=choice_field("role", "who", names))
        st.selectbox("to", [*ROLES, _OUT, _IN], key=field_key("role", "new"))
        st.form_submit_button("Change", on_click=BY_ADMIN, args=(partial(_change, services),))
    with third, st.form("password", clear_on_submit=True):
        st.text("A new password")
        st.selectbox("For", names, key=choice_field("password", "who", names))
        st.text_input("New password", type="password", autocomplete="new-password", key=field_key("password", "new"))
        st.form_submit_button("Set", on_click=BY_ADMIN, args=(partial(_set_password, services),))


def _add_account(services: Services, admin: AppUser) -> str:
    new = fields("account")
    account = services.accounts.add(
        new["name"], new["role"], by=admin.name, display=new["display"], password=new["password"] or None, oidc=new["oidc"] or None
    )
    return f"{account.name} can log in." if account.can_log_in else f"{account.name} needs a password before logging in."


def _change(services: Services, admin: AppUser) -> str | None:
    who, new = fields("role").get("who"), fields("role")["new"]
    if not who:
        return None
    if new == _OUT:
        services.accounts.deactivate(who, by=admin.name)
    elif new == _IN:
        services.accounts.reactivate(who, by=admin.name)
    else:
        services.accounts.change_role(who, new, by=admin.name)
    return f"{who}: {new}. That person has to log in again."


def _set_password(services: Services, admin: AppUser) -> str | None:
    who, password = fields("password").get("who"), fields("password")["new"]
    if not who:
        return None
    services.accounts.set_password(who, password, by=admin.name)
    return f"{who} has another password and has to log in again."


def backup_tab(services: Services, _person: AppUser) -> None:
    """Show the snapshots, and a button that makes one now."""
    snapshots = services.snapshots
    if snapshots.every_s > 0:
        st.text(f"A snapshot is made every {snapshots.every_s / 60:g} minutes; the newest {snapshots.keep} are kept.")
    else:
        st.text("No snapshots are made by themselves: start the app with --snapshot-every MINUTES.")
    if snapshots.fault is not None:
        st.warning(escape_markdown(f"At the last snapshot something failed: {snapshots.fault}"))
    st.button("Make a snapshot now", on_click=BY_ADMIN, args=(lambda _: f"Made: {snapshots.take()}",))
    found = list_snapshots(services.path)
    if not found:
        st.text("There is no snapshot yet.")
        return
    rows = [{"snapshot": path.name, "MB": round(path.stat().st_size / 1e6, 1)} for path in reversed(found)]
    show_table(rows)
    st.text("To go back to the newest: stop the app, then")
    st.code(f"piiloom annotate --restore {shlex.quote(str(found[-1]))} --store {shlex.quote(str(services.path))}", language="console")


def stats_tab(services: Services, _person: AppUser) -> None:
    """Show the store's runs, rejects, number of records and size."""
    with services.shared.reading() as store:
        runs = list_runs(store)
        rows = [
            {"run": run.id, "status": run.status, "seed": run.seed, "wanted": run.samples, "records": count_records(store, run_id=run.id)}
            for run in runs
        ]
        rejects = [
            {"run": run.id, "stage": stage, "reason": reason, "rejects": count}
            for run in runs
            for stage, reasons in count_reasons(store, run.id).items()
            for reason, count in reasons.items()
        ]
        total, validated = count_records(store), count_records(store, status="validated")
    show_metrics(
        ("Revisions of records", f"{total:,}"),
        ("of them validated", f"{validated:,}"),
        ("Size", f"{services.path.stat().st_size / 1e6:,.1f} MB"),
    )
    for title, table in (("Runs", rows), ("Rejects of the runs", rejects)):
        if table:
            st.markdown(f"**{title}**")
            show_table(table)
    st.caption(escape_markdown(f"The store is {services.path}. No command of piiloom can open it while the app runs."))


@with_outcomes()
def admin_page(person: AppUser) -> None:
    """Show the tabs of the admin page."""
    services = get_services()
    parts: dict[str, Callable[[Services, AppUser], None]] = {
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


def _assign(services: Services, _person: AppUser) -> None:
    people = [account.name for account in services.accounts.list() if account.active]
    st.text("Without assignments people take the most urgent record that is free. Assigning deals records out beforehand.")
    with st.form("assign"):
        st.multiselect("People", people, key=field_key("assign", "people"))
        st.number_input("How many records, the most urgent first", 1, 500, 50, key=field_key("assign", "number"))
        st.form_submit_button("Deal them out", type="primary", on_click=BY_ADMIN, args=(partial(_deal, services),))
    with st.form("free"):
        st.selectbox("Free all that somebody holds", people, key=choice_field("free", "who", people))
        st.form_submit_button("Free", on_click=BY_ADMIN, args=(partial(_free, services),))


def _deal(services: Services, admin: AppUser) -> str:
    asked = fields("assign")
    lines = services.lists.find(admin, ListQuery(status="generated", per_page=int(asked["number"]))).lines
    dealt = services.work.assign(admin.name, [line.record_id for line in lines], asked["people"])
    return ", ".join(f"{who}: {count}" for who, count in dealt.items())


def _free(services: Services, admin: AppUser) -> str:
    number = services.work.leases.release_all(str(fields("free").get("who")), actor=admin.name, assigned=True)
    return f"{counted(number, 'record')} {'is' if number == 1 else 'are'} free again."


def _settings(services: Services, _person: AppUser) -> None:
    current = services.settings.current()
    # The fields are others once something else is in force: they begin with what is.
    form = f"settings-{crc32(repr(current).encode())}"
    with st.form("settings"):
        st.number_input("People for each record pooled from now on", 1, 50, current.overlap, key=field_key(form, "overlap"))
        st.toggle("Blind: annotators don't see why a record was labelled so", current.blind, key=field_key(form, "blind"))
        st.toggle("Annotators may see others' work", current.see_others, key=field_key(form, "see_others"))
        st.number_input("Minutes that an idle person keeps a record", 1, 1440, current.lease_minutes, key=field_key(form, "lease_minutes"))
        st.number_input("Unfinished records that one person can hold", 1, 1000, current.lease_limit, key=field_key(form, "lease_limit"))
        st.toggle("A test has to be passed before work begins", current.qualifying_needed, key=field_key(form, "qualifying_needed"))
        threshold = float(current.qualifying_threshold)
        st.slider("Score that passes the test", 0.0, 1.0, threshold, key=field_key(form, "qualifying_threshold"))
        st.slider("Share of hidden control records", 0.0, 0.5, float(current.control_share), key=field_key(form, "control_share"))
        st.toggle(
            "Order by uncertainty of suggestions: what detectors are least sure of comes first",
            current.by_uncertainty,
            key=field_key(form, "by_uncertainty"),
        )
        _weights(current.priority_weights, f"{form}-weights")
        st.form_submit_button("Save", type="primary", on_click=BY_ADMIN, args=(partial(_save, services, form),))


def _weights(current: Mapping[str, float], form: str) -> None:
    st.caption("What makes a record urgent, and how much (then work out priorities anew on the tab Work list)")
    columns = st.columns(len(DEFAULT_WEIGHTS))
    for column, name in zip(columns, DEFAULT_WEIGHTS, strict=True):
        column.number_input(name, 0.0, 10.0, float(current.get(name, 0.0)), 0.1, key=field_key(form, name))


def _save(services: Services, form: str, admin: AppUser) -> str:
    new: dict[str, Any] = {**fields(form), "priority_weights": fields(f"{form}-weights")}
    before = asdict(services.settings.current())
    changed = [name for name, value in new.items() if value != before[name]]
    for name in changed:
        services.settings.change(admin.name, name, new[name])
    if "by_uncertainty" in changed:
        services.pool.prioritise(admin.name)
    return f"Changed: {', '.join(changed)}." if changed else "Nothing was different."


def _training(services: Services, _person: AppUser) -> None:
    st.text("The shipped exercises suit any project. Better ones come from your own: take records that are validated.")
    st.button("Add the shipped practice records", on_click=BY_ADMIN, args=(partial(_add_practice, services),))
    st.button("Add the shipped test", on_click=BY_ADMIN, args=(partial(_add_test, services),))
    with st.form("controls"):
        st.number_input("Validated records to make hidden controls of", 1, 500, 20, key=field_key("controls", "number"))
        st.toggle("Without errors (gold records)", key=field_key("controls", "gold"))
        st.form_submit_button("Plant", on_click=BY_ADMIN, args=(partial(_plant, services),))


def _add_practice(services: Services, admin: AppUser) -> str:
    return f"{counted(len(services.practice.add(admin.name, shipped_answers('practice'))), 'practice record')} added."


def _add_test(services: Services, admin: AppUser) -> str:
    return f"A test of {counted(len(services.test.add_set(admin.name, shipped_answers('qualifying'))), 'record')} added."


def _plant(services: Services, admin: AppUser) -> str:
    asked = fields("controls")
    lines = services.lists.find(admin, ListQuery(status="validated", per_page=int(asked["number"]))).lines
    ids = [line.record_id for line in lines]
    report = services.controls.add_gold(admin.name, ids) if asked["gold"] else services.controls.plant_errors(admin.name, ids)
    told = f"{counted(sum(report.made.values()), 'control record')} planted."
    told += f" Of {counted(len(report.known), 'record')} there is one already." if report.known else ""
    return told + ("" if ids else " No record is validated yet: controls are made of such.")
