"""``piiloom annotators``: accounts by the command line; a password is never an argument and never shows."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from piiloom.annotation_app.serving.services import open_services
from tests.longer import mostly_long
from tests.piiloom.test_bad_input import HOLDER

GOOD = "correct horse battery"


@pytest.fixture
def piped(monkeypatch):
    def pipe(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return pipe


def _authenticate(path, name, password):
    services = open_services(path)
    try:
        return services.accounts.authenticate(name, password) is not None
    finally:
        services.close()


@pytest.mark.long
def test_add_list_change_and_shut_out(cli, piped, empty_store):
    piped(f"{GOOD}\nnot this line\n")
    added = cli("annotators", "add", "ana", "--role", "admin", "--password-stdin", "--store", empty_store)
    assert (added.code, added.err) == (0, "")
    assert added.out.splitlines()[0] == "ana (admin) added"
    assert f"piiloom annotate --store {empty_store}" in added.out
    assert _authenticate(empty_store, "ana", GOOD)

    assert cli("annotators", "add", "ben", "--oidc", "ben@example.org", "--display", "Ben B.", "--store", empty_store).code == 0
    assert cli("annotators", "role", "BEN", "adjudicator", "--store", empty_store).out == "ben (adjudicator) is now adjudicator\n"
    piped("another password\n")
    assert cli("annotators", "password", "ana", "--password-stdin", "--store", empty_store).code == 0
    assert _authenticate(empty_store, "ana", "another password")
    assert cli("annotators", "deactivate", "ben", "--store", empty_store).code == 0

    listed = cli("annotators", "list", "--store", empty_store).out.splitlines()
    assert [line.split()[0] for line in listed] == ["name", "ana", "ben"]
    assert "no (deactivated)" in listed[2]
    told = json.loads(cli("annotators", "list", "--json", "--store", empty_store).out)
    assert [(row["name"], row["role"], row["active"], row["has_password"]) for row in told["annotators"]] == [
        ("ana", "admin", True, True),
        ("ben", "adjudicator", False, False),
    ]
    assert "argon2" not in json.dumps(told)
    assert cli("annotators", "reactivate", "ben", "--store", empty_store).out == "ben (adjudicator) can log in again\n"


def test_json_tells_the_account(cli, piped, empty_store):
    piped(f"{GOOD}\n")
    told = json.loads(cli("annotators", "add", "ana", "--password-stdin", "--json", "--store", empty_store).out)
    assert told["name"] == "ana"
    assert GOOD not in json.dumps(told)


def test_no_accounts(cli, empty_store):
    assert "whoever uses this machine" in cli("annotators", "list", "--store", empty_store).out


QUICK = {
    (("add", "ana"), "", "--password-stdin"),
    (("add", "a\u202eb", "--oidc", "a@x.org"), "", "U+202E"),
    (("role", "root", "annotator"), "", "only admin"),
}


@pytest.mark.parametrize(
    ("words", "text", "says"),
    mostly_long(
        [
            (("add", "ana", "--password-stdin"), "", "standard input"),
            (("add", "ana", "--password-stdin"), "short\n", "10 to 1024"),
            (("add", "ana"), "", "--password-stdin"),
            (("add", "", "--oidc", "a@x.org"), "", "1 to 64"),
            (("add", "a\u202eb", "--oidc", "a@x.org"), "", "U+202E"),
            (("add", "local", "--oidc", "a@x.org"), "", "reserved"),
            (("add", "ana", "--role", "boss", "--oidc", "a@x.org"), "", "annotator, adjudicator, admin"),
            (("add", "ana", "--oidc", "a b"), "", "OIDC identity"),
            (("add", "ROOT", "--oidc", "a@x.org"), "", "already"),
            (("role", "nobody", "admin"), "", "There are: root"),
            (("role", "root", "annotator"), "", "only admin"),
            (("password", "nobody", "--password-stdin"), f"{GOOD}\n", "no account"),
            (("password", "root"), "", "--password-stdin"),
            (("deactivate", "root"), "", "only admin"),
            (("add",), "", "NAME"),
        ],
        quick=QUICK,
    ),
)
def test_bad_input(cli, piped, empty_store, words, text, says):
    cli("annotators", "add", "root", "--role", "admin", "--oidc", "root@example.org", "--store", empty_store)
    piped(text)
    outcome = cli("annotators", *words, "--store", empty_store)
    assert outcome.code == 2
    assert says in outcome.error_line()
    told = json.loads(cli("annotators", "list", "--json", "--store", empty_store).out)
    assert [(row["name"], row["role"]) for row in told["annotators"]] == [("root", "admin")]


def test_there_is_no_option_for_a_password(cli, empty_store):
    outcome = cli("annotators", "add", "ana", "--password", GOOD, "--store", empty_store)
    assert outcome.code == 2
    assert GOOD not in outcome.err


def test_a_store_that_is_not_there(cli, store_path):
    outcome = cli("annotators", "list", "--store", store_path)
    assert outcome.code == 1
    assert not store_path.exists()


def test_a_store_that_the_app_holds_can_be_changed_in_the_app(cli, empty_store):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(empty_store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        outcome = cli("annotators", "list", "--store", empty_store)
        holder.communicate("")
    assert outcome.code == 1
    assert f"process {holder.pid}" in outcome.error_line()
    assert "an admin can do this there" in outcome.error_line()


def _read_until(terminal, question):
    shown = b""
    while question not in shown:
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, shown
        shown += os.read(terminal, 1000)
    time.sleep(0.3)  # what is typed before the echo is switched off is thrown away
    return shown


@pytest.mark.long
def test_a_password_is_asked_for_twice_on_a_terminal(empty_store):
    terminal, end = pty.openpty()
    words = ["annotators", "add", "ana", "--store", str(empty_store)]
    code = "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from piiloom.cli.main import run; sys.exit(run(sys.argv[1:]))"
    with subprocess.Popen([sys.executable, "-c", code, *words], stdin=end, stdout=end, stderr=end, start_new_session=True) as process:
        shown = b""
        for question, typed in ((b"Password", GOOD), (b"Repeat", "something else"), (b"Password", GOOD), (b"Repeat", GOOD)):
            shown += _read_until(terminal, question)
            os.write(terminal, f"{typed}\n".encode())
        assert process.wait(timeout=20) == 0
    os.close(end)
    os.close(terminal)
    assert b"do not match" in shown
    assert GOOD.encode() not in shown
    assert _authenticate(empty_store, "ana", GOOD)
