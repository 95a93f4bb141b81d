"""Logging in at an OpenID Connect provider, with Streamlit's own login, in Chromium."""

from __future__ import annotations

import socket

import pytest

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served
from tests.annotation_app.small_provider import provider

_SECRETS = """
[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "a secret of forty characters for the test"
client_id = "piiloom"
client_secret = "kept by nobody"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.long
def test_an_account_with_the_verified_address_gets_in_and_others_do_not(browser, tmp_path):
    from playwright.sync_api import expect

    store, port = tmp_path / "s.duckdb", _free_port()
    Store.open(store).close()
    services = open_services(store)
    services.accounts.add("ana", "adjudicator", oidc="Ana@Example.org")
    services.close()
    (tmp_path / ".streamlit").mkdir()
    with provider(sub="7", email="ana@example.org", email_verified=True) as known:
        (tmp_path / ".streamlit" / "secrets.toml").write_text(_SECRETS.format(port=port, provider=known.url))
        with served(store, "--port", str(port), "--snapshot-every", "0") as server:
            with browser.new_context() as context:
                page = context.new_page()
                page.goto(server.url)
                page.get_by_role("button", name="Log in with your organisation").click(timeout=20_000)
                expect(page.get_by_text("Logged in as ana (adjudicator)")).to_be_visible(timeout=20_000)
                page.get_by_role("button", name="Log out").click()
                expect(page.get_by_text("You are not logged in")).to_be_visible(timeout=20_000)
            known.claims = {"sub": "8", "email": "ana@example.org", "email_verified": False}
            with browser.new_context() as context:
                page = context.new_page()
                page.goto(server.url)
                page.get_by_role("button", name="Log in with your organisation").click(timeout=20_000)
                expect(page.get_by_text("you have no account here")).to_be_visible(timeout=20_000)
                expect(page.get_by_text("Logged in as")).to_have_count(0)


def _log_in(page, server, role):
    from playwright.sync_api import expect

    page.goto(server.url)
    page.get_by_role("button", name="Log in with your organisation").click(timeout=20_000)
    expect(page.get_by_text(f"Logged in as ana ({role})")).to_be_visible(timeout=20_000)


@pytest.mark.long
def test_another_role_and_a_logout_end_an_open_session_and_its_cookie(browser, tmp_path):
    from playwright.sync_api import expect

    store, port = tmp_path / "s.duckdb", _free_port()
    Store.open(store).close()
    services = open_services(store)
    services.accounts.add("ana", "adjudicator", oidc="ana@example.org")
    services.accounts.add("boss", "admin", password=GOOD)
    services.close()
    (tmp_path / ".streamlit").mkdir()
    with provider(sub="7", email="ana@example.org", email_verified=True) as known:
        (tmp_path / ".streamlit" / "secrets.toml").write_text(_SECRETS.format(port=port, provider=known.url))
        with served(store, "--port", str(port), "--snapshot-every", "0") as server:
            context, office = browser.new_context(), browser.new_context()
            page, boss = context.new_page(), office.new_page()
            _log_in(page, server, "adjudicator")
            page.goto(f"{server.url}/dashboard")
            expect(page.get_by_text("Logged in as ana (adjudicator)")).to_be_visible(timeout=20_000)
            boss.goto(f"{server.url}/account/login")
            boss.fill("input[name=name]", "boss")
            boss.fill("input[name=password]", GOOD)
            boss.keyboard.press("Enter")
            boss.wait_for_url(f"{server.url}/")
            boss.goto(f"{server.url}/admin")
            boss.get_by_role("tab", name="People").click(timeout=20_000)
            boss.get_by_role("combobox", name="Change", exact=True).click()
            boss.get_by_role("option", name="ana").click()
            boss.get_by_role("button", name="Change", exact=True).click()
            expect(boss.get_by_text("ana: annotator. That person has to log in again.")).to_be_visible(timeout=20_000)
            page.get_by_text("Agreement").click()  # any run of the open page
            expect(page.get_by_text("Your session has ended.")).to_be_visible(timeout=20_000)
            page.reload()
            expect(page.get_by_text("You are not logged in")).to_be_visible(timeout=20_000)
            expect(page.get_by_text("you have no account here")).to_have_count(0)
            _log_in(page, server, "annotator")
            expect(page.get_by_text("Dashboard")).to_have_count(0)
            kept = context.cookies()
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_text("You are not logged in")).to_be_visible(timeout=20_000)
            context.add_cookies(kept)
            page.goto(server.url)
            expect(page.get_by_text("You are not logged in")).to_be_visible(timeout=20_000)
            assert context.request.get(f"{server.url}/_stcore/script-health-check").status == 403
            context.close()
            office.close()
            assert server.stop()[0] == 0
    with Store.open(store, create=False) as again:
        told = [(event.actor, event.kind) for event in read_events(again) if event.kind.startswith("logged")]
    assert told == [("ana", "logged_in"), ("boss", "logged_in"), ("ana", "logged_in"), ("ana", "logged_out")]
