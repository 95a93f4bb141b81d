"""``piiloom annotators``: the accounts of the people who annotate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.paging import in_columns
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import examples, say, say_json
from piiloom.foundation.errors import StoreLocked, UsageError

if TYPE_CHECKING:
    from piiloom.annotation_app.people.account_events import Account
    from piiloom.annotation_app.people.accounts import Accounts


_ADD = (
    "piiloom annotators add ana --role admin",
    "piiloom annotators add ben --password-stdin < password.txt",
    "piiloom annotators add cleo --role adjudicator --oidc cleo@example.org",
)
_LIST = ("piiloom annotators list", "piiloom annotators list --json")
_ROLE = ("piiloom annotators role ben adjudicator",)
_PASSWORD = ("piiloom annotators password ben", "piiloom annotators password ben --password-stdin < password.txt")
_DEACTIVATE = ("piiloom annotators deactivate ben",)
_REACTIVATE = ("piiloom annotators reactivate ben",)

annotators_app = typer.Typer(
    help="Make and change the accounts of the people who annotate.",
    epilog=examples(*_ADD, *_LIST, *_ROLE, *_PASSWORD, *_DEACTIVATE, *_REACTIVATE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name that the person logs in with; letter case does not matter.")]
_FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input instead of asking for it.")
]


@annotators_app.command("add", epilog=examples(*_ADD))
def add(
    name: _Name,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="annotator, adjudicator or admin.")] = "annotator",
    display: Annotated[str, typer.Option("--display", metavar="TEXT", help="How others see the person; the name when not given.")] = "",
    oidc: Annotated[
        str | None,
        typer.Option("--oidc", metavar="EMAIL", help="Let the person log in by OIDC: a verified e-mail address, or the subject."),
    ] = None,
    password_stdin: _FromStdin = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Make an account. Asks twice for a password, unless the person logs in by OIDC.

    An annotator works on records, an adjudicator also decides between versions, an admin also runs the project.
    """
    add_account(store, name, role, display=display, oidc=oidc, from_stdin=password_stdin, as_json=as_json)


@annotators_app.command("list", epilog=examples(*_LIST))
def list_accounts(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List all accounts, those of people who have left included, and how each can log in."""
    print_accounts(store, as_json=as_json)


@annotators_app.command("role", epilog=examples(*_ROLE))
def role(
    name: _Name,
    new_role: Annotated[str, typer.Argument(metavar="ROLE", help="annotator, adjudicator or admin.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Give a person another role; they have to log in again."""
    change_role(store, name, new_role, as_json=as_json)


@annotators_app.command("password", epilog=examples(*_PASSWORD))
def password(name: _Name, password_stdin: _FromStdin = False, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Give a person a new password; they have to log in again everywhere."""
    change_password(store, name, from_stdin=password_stdin, as_json=as_json)


@annotators_app.command("deactivate", epilog=examples(*_DEACTIVATE))
def deactivate(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Deactivate an account at once; the person's work stays."""
    change_access(store, name, active=False, as_json=as_json)


@annotators_app.command("reactivate", epilog=examples(*_REACTIVATE))
def reactivate(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Reactivate a deactivated account, with the same password."""
    change_access(store, name, active=True, as_json=as_json)


@contextmanager
def _accounts(path: Path) -> Iterator[Accounts]:
    """Open the accounts of the store at *path*."""
    from piiloom.annotation_app.serving.services import open_services  # noqa: PLC0415 - it takes half a second

    try:
        services = open_services(path)
    except StoreLocked as error:
        remedy = "If that is piiloom annotate, an admin can do this there; otherwise wait for it or stop it"
        raise StoreLocked(error.message, where=error.where, remedy=remedy) from error
    try:
        yield services.accounts
    finally:
        services.close()


def add_account(path: Path, name: str, role: str, *, display: str, oidc: str | None, from_stdin: bool, as_json: bool) -> None:
    """Make an account; a password is asked for where there is no other way in, or with *from_stdin*."""
    with _accounts(path) as accounts:
        if any(account.name == name for account in accounts.list()):  # before somebody thinks of a password
            raise UsageError(f"there is an account {name!r} already", remedy="Choose another name")
        password = _password(from_stdin) if from_stdin or oidc is None else None
        made = accounts.add(name, role, display=display, password=password, oidc=oidc)
    _say_account(made, "added", as_json=as_json)
    if not as_json:
        say(f"  next      piiloom annotate{store_option(path)}")


def print_accounts(path: Path, *, as_json: bool) -> None:
    """Print all accounts."""
    with _accounts(path) as accounts:
        found = accounts.list()
    if as_json:
        say_json({"store": str(path), "annotators": [asdict(account) for account in found]})
    elif found:
        rows = [
            (account.name, account.display, account.role, _way_in(account), account.oidc or "", account.made_at[:10]) for account in found
        ]
        say("\n".join(in_columns([("name", "shown as", "role", "logs in", "oidc", "since"), *rows], left=range(6))))
    else:
        say(f"no accounts in {path}: whoever uses this machine is the admin")


def change_role(path: Path, name: str, role: str, *, as_json: bool) -> None:
    """Give a person another role."""
    with _accounts(path) as accounts:
        account = accounts.change_role(name, role)
    _say_account(account, f"is now {account.role}", as_json=as_json)


def change_password(path: Path, name: str, *, from_stdin: bool, as_json: bool) -> None:
    """Give a person a new password."""
    with _accounts(path) as accounts:
        known = accounts.named(name)
        account = accounts.set_password(known.name, _password(from_stdin))
    _say_account(account, "has a new password", as_json=as_json)


def change_access(path: Path, name: str, *, active: bool, as_json: bool) -> None:
    """Shut a person out, or let that one in again."""
    with _accounts(path) as accounts:
        account = accounts.reactivate(name) if active else accounts.deactivate(name)
    _say_account(account, "can log in again" if active else "is deactivated; the work stays", as_json=as_json)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        line = sys.stdin.readline().rstrip("\r\n")
        if not line:
            raise UsageError("there is no password on standard input", where="--password-stdin", remedy="Pipe it in as one line")
        return line
    if not sys.stdin.isatty():
        raise UsageError(
            "a password is needed, and there is no terminal to type it", remedy="Pipe it in with --password-stdin, or give --oidc EMAIL"
        )
    typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt="Repeat the password", err=True)
    return typed


def _way_in(account: Account) -> str:
    if not account.active:
        return "no (deactivated)"
    ways = ["password"] * account.has_password + ["OIDC"] * (account.oidc is not None)
    return " or ".join(ways) or "no"


def _say_account(account: Account, what: str, *, as_json: bool) -> None:
    if as_json:
        say_json(asdict(account))
    else:
        say(f"{account.name} ({account.role}) {what}")
