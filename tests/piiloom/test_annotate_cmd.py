"""``piiloom annotate``: what it refuses before it serves. What it serves is tested in ``tests/annotation_app``."""

from __future__ import annotations

import socket
import subprocess
import sys

import duckdb
import pytest

from piiloom.annotation_app.serving.services import open_services
from piiloom.cli.annotate import AppOptions, login_needed
from piiloom.corpus.store.database import Store
from tests.piiloom.test_bad_input import HOLDER

GOOD = "correct horse battery"


@pytest.fixture
def peopled(empty_store):
    services = open_services(empty_store)
    services.accounts.add("ana", "admin", password=GOOD)
    services.close()
    return empty_store


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])  # noqa: S104 - refused
def test_the_network_gets_in_only_with_accounts(cli, empty_store, host):
    outcome = cli("annotate", "--host", host, "--port", 0, "--store", empty_store)
    assert outcome.code == 2
    assert "piiloom annotators add" in outcome.error_line()


@pytest.mark.parametrize("words", [("--host", "0.0.0.0"), ("--behind-https",)])  # noqa: S104 - refused
def test_single_user_is_for_this_machine_alone(cli, peopled, words):
    outcome = cli("annotate", "--single-user", *words, "--port", 0, "--store", peopled)
    assert outcome.code == 2
    assert "this machine only" in outcome.error_line()


def test_a_login_needs_somebody_who_can_log_in(cli, empty_store):
    outcome = cli("annotate", "--login", "--port", 0, "--store", empty_store)
    assert outcome.code == 2
    assert "nobody could log in" in outcome.error_line()


def test_an_account_by_oidc_is_no_way_in_where_oidc_is_not_configured(cli, empty_store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cli("annotators", "add", "ana", "--oidc", "ana@example.org", "--store", empty_store).code == 0
    outcome = cli("annotate", "--port", 0, "--store", empty_store)
    assert outcome.code == 2
    assert "OIDC is not configured" in outcome.error_line()


@pytest.mark.parametrize(
    ("host", "login", "behind", "accounts", "usable", "needed"),
    [
        ("127.0.0.1", None, False, 0, 0, False),
        ("localhost", None, False, 0, 0, False),
        ("::1", None, False, 2, 1, True),
        ("127.0.0.1", False, False, 2, 1, False),
        ("127.0.0.1", True, False, 1, 1, True),
        ("127.0.0.1", None, True, 1, 1, True),
        ("192.0.2.7", None, False, 1, 1, True),
    ],
)
def test_when_people_log_in(tmp_path, host, login, behind, accounts, usable, needed):
    asked = AppOptions(store=tmp_path, login=login, behind_https=behind, snapshot_every=0, keep_snapshots=1)
    assert login_needed(asked, host, accounts=accounts, usable=usable) is needed


def test_a_port_in_use(cli, empty_store):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        outcome = cli("annotate", "--port", taken.getsockname()[1], "--store", empty_store)
    assert outcome.code == 1
    assert "--port" in outcome.error_line()
    assert "in use" in outcome.error_line()


@pytest.mark.parametrize("host", ["no such host", "a" * 300, "192.0.2.7"])
def test_a_host_that_is_not_here(cli, peopled, host):
    outcome = cli("annotate", "--host", host, "--port", 0, "--store", peopled)
    assert outcome.code in {1, 2}
    assert "--host" in outcome.error_line() or "--port" in outcome.error_line()


def test_a_store_that_is_not_there(cli, store_path):
    outcome = cli("annotate", "--store", store_path)
    assert outcome.code == 1
    assert "there is no store here" in outcome.error_line()
    assert not store_path.exists()


def test_a_store_held_by_another_process(cli, empty_store):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(empty_store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        outcome = cli("annotate", "--port", 0, "--store", empty_store)
        holder.communicate("")
    assert outcome.code == 1
    assert f"process {holder.pid}" in outcome.error_line()


def test_a_store_of_a_newer_piiloom(cli, empty_store):
    with duckdb.connect(str(empty_store)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, 'piiloom', 'from the future')")
    outcome = cli("annotate", "--port", 0, "--store", empty_store)
    assert outcome.code == 1
    assert "99" in outcome.error_line()


@pytest.mark.parametrize(
    ("option", "value"), [("--port", "70000"), ("--port", "web"), ("--snapshot-every", "-1"), ("--keep-snapshots", "0")]
)
def test_options_out_of_range(cli, empty_store, option, value):
    outcome = cli("annotate", option, value, "--store", empty_store)
    assert outcome.code == 2
    assert option in outcome.error_line()


def test_restore_brings_the_store_back_and_logs_everybody_out(cli, peopled):
    from datetime import UTC, datetime

    from piiloom.corpus.store.derived_stores import take_snapshot

    services = open_services(peopled)
    token = services.logins.log_in("ana", GOOD, "192.0.2.7").token
    with services.shared.reading() as store:
        snapshot = take_snapshot(store, datetime.now(UTC), 3)
    services.accounts.add("ben", "annotator", password=GOOD)
    services.close()

    outcome = cli("annotate", "--restore", snapshot, "--store", peopled)
    assert (outcome.code, outcome.err) == (0, "")
    assert "delete it when you no longer need it" in outcome.out
    services = open_services(peopled)
    assert [account.name for account in services.accounts.list()] == ["ana"]
    assert services.logins.person(token) is None
    services.close()


def test_restore_of_what_is_no_snapshot_changes_nothing(cli, peopled, tmp_path):
    before = peopled.read_bytes()
    outcome = cli("annotate", "--restore", tmp_path / "none.duckdb", "--store", peopled)
    assert outcome.code == 1
    assert "no such snapshot" in outcome.error_line()
    assert peopled.read_bytes() == before
    Store.open(peopled).close()
