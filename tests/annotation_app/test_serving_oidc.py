"""Logging in at an OpenID Connect provider, with Streamlit's own login, in Chromium."""

from __future__ import annotations

import socket

import pytest

from annotation_app.serving.opening import open_workplace
from corpus.store.database import Store
from tests.annotation_app.served_app import CHROMIUM, served
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
def test_an_account_with_the_verified_address_gets_in_and_others_do_not(tmp_path):
    from playwright.sync_api import expect, sync_playwright

    store, port = tmp_path / "s.duckdb", _free_port()
    Store.open(store).close()
    workplace = open_workplace(store)
    workplace.accounts.add("ana", "adjudicator", oidc="Ana@Example.org")
    workplace.close()
    (tmp_path / ".streamlit").mkdir()
    with provider(sub="7", email="ana@example.org", email_verified=True) as known:
        (tmp_path / ".streamlit" / "secrets.toml").write_text(_SECRETS.format(port=port, provider=known.url))
        with (
            served(store, "--port", str(port), "--snapshot-every", "0") as server,
            sync_playwright() as driver,
            driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as browser,
        ):
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
