"""The tabs on the store itself: snapshots, runs, rejects, size. Commands cannot open the store while the app holds it."""

from __future__ import annotations

import shlex

import streamlit as st

from piiloom.annotation_app.people.identity import Person
from piiloom.annotation_app.screens.acting import BY_ADMIN
from piiloom.annotation_app.screens.escaping import escape_markdown
from piiloom.annotation_app.screens.tables import show_table
from piiloom.annotation_app.serving.services import Services
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import count_reasons, list_runs
from piiloom.corpus.store.store_files import list_snapshots


def backup_tab(services: Services, _person: Person) -> None:
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


def stats_tab(services: Services, _person: Person) -> None:
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
    one, two, three = st.columns(3)
    one.metric("Revisions of records", f"{total:,}")
    two.metric("of them validated", f"{validated:,}")
    three.metric("Size", f"{services.path.stat().st_size / 1e6:,.1f} MB")
    for title, table in (("Runs", rows), ("Rejects of the runs", rejects)):
        if table:
            st.markdown(f"**{title}**")
            show_table(table)
    st.caption(escape_markdown(f"The store is {services.path}. No command of piiloom can open it while the app runs."))
