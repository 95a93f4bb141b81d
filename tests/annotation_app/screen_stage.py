"""A stage for pages: the services over a small store, people at work in it, and a page run as Streamlit runs it."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from streamlit.testing.v1 import AppTest

from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.serving.current_user import LoginConfig, use_login_config
from piiloom.annotation_app.serving.services import open_services, set_services
from piiloom.annotation_app.sync.service import Sent
from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records

HOSTILE = "<script>alert(1)</script> **bold** ![x](http://e.example/i.png) [y](javascript:alert(2)) $x$ :red[z]"
CONTEXT = f"As a baker with asthma from Leeds, I wrote {HOSTILE}"
ROLES = {name: AppUser(name, name, name) for name in ("annotator", "adjudicator", "admin")}


class Clock:
    """Goes only when the test turns it."""

    def __init__(self):
        self.moment = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)

    def __call__(self):
        return self.moment

    def turn(self, minutes):
        self.moment += timedelta(minutes=minutes)


def record(number):
    return Record(
        id=f"r{number:03}",
        context=CONTEXT,
        question=f"Which forms? {HOSTILE}",
        spans=(
            Span(id="s1", start=5, end=10, entity_type="occupation", relevance="high"),
            Span(id="s2", start=16, end=22, entity_type="health", relevance="high"),
            Span(id="s3", start=28, end=33, entity_type="location", relevance="low"),
        ),
        plan=RecordPlan(pair=("health", "occupation"), scenario=HOSTILE),
        provenance=Provenance(stage="screen", provider="p", model="m", templates=(("t.v1", "ab"),)),
    )


@contextmanager
def stage(folder, *, records=4, overlap=2):
    """The services that the pages of this process find; single-user, so that whoever acts is the admin "local"."""
    with Store.open(folder / "s.duckdb") as store:
        add_records(store, None, [(None, record(number)) for number in range(records)], status="imported")
    services = open_services(folder / "s.duckdb", clock=Clock())
    set_services(services)
    use_login_config(LoginConfig())
    try:
        services.settings.change("local", "overlap", overlap)
        if records:
            services.pool.add("local", imported=True)
        yield services
    finally:
        set_services(None)
        use_login_config(None)
        services.close()


def does(services, who, record_id, *operations, base=None, client=None):
    """Have *who* take the record and send *operations*."""
    services.work.leases.renew(who, record_id)
    at = services.documents.open(who, record_id).version if base is None else base
    name = client or f"{who}-{record_id}-{at}"
    sent = [
        Sent(client=name, sequence=n + 1, record_id=record_id, base=at + n, operation=operation) for n, operation in enumerate(operations)
    ]
    return services.documents.deliver(who, sent)


def flip(span="s3", relevance="high"):
    return {"op": "relevance", "id": span, "relevance": relevance}


ACCEPT = {"op": "accept"}


def dispute(services, record_id):
    """Ana accepts, Ben flips a relevance, drops a span and flags."""
    does(services, "ana", record_id, ACCEPT)
    does(services, "ben", record_id, flip(), {"op": "remove", "id": "s1"}, {"op": "flag", "comment": HOSTILE}, ACCEPT)


def _draw(module, function, name, role):
    import importlib

    from piiloom.annotation_app.people.accounts import AppUser

    getattr(importlib.import_module(module), function)(AppUser(name, name, role))


# Modules that have several pages, by page.
MODULES = {"guidelines": "learning", "training": "learning", "own_work": "dashboard", "records": "work"}


def page(screen, role="admin", name=None):
    """Run the page *screen* for somebody; fails when it raises."""
    module = f"piiloom.annotation_app.screens.{MODULES.get(screen, screen)}"
    function = f"{screen}_page"
    test = AppTest.from_function(_draw, args=(module, function, name or role, role), default_timeout=20)
    return ran(test.run())


def ran(test):
    assert not test.exception, test.exception
    return test


def said(test):
    """All that the page says in words, as Markdown or not."""
    kinds = ("text", "markdown", "caption", "info", "warning", "success", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(test, kind))


def press(test, label):
    for button in test.button:
        if button.label == label:
            return ran(button.click().run())
    raise AssertionError(f"no button {label!r} among {[button.label for button in test.button]}")


def markdown_of(test):
    """What Streamlit reads as Markdown: texts, captions, messages and labels."""
    kinds = ("markdown", "caption", "info", "warning", "success", "subheader")
    shown = [str(element.value) for kind in kinds for element in getattr(test, kind)]
    labels = [element.label for kind in ("button", "radio", "selectbox", "expander", "text_input") for element in getattr(test, kind)]
    return [*shown, *labels, *(option for radio in test.radio for option in radio.options)]
