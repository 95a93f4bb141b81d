"""``piiloom annotators``: the accounts of people who annotate.

A password is typed or piped in; it is never an argument, which others could see.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from piiloom.cli.options import StoreOptions
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import command_group, examples, in_columns, say, say_json
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import StoreLocked, UsageError
from piiloom.foundation.settings import setting

if TYPE_CHECKING:
    from piiloom.annotation_app.people.accounts import Account, Accounts

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

annotators_app = command_group(
    "Make and change the accounts of the people who annotate.", *_ADD, *_LIST, *_ROLE, *_PASSWORD, *_DEACTIVATE, *_REACTIVATE
)

_ROLES = "Role: annotator, adjudicator or admin."


class AccountOptions(StoreOptions):
    """The account that a command changes."""

    name: str = setting(..., "Name with which the person logs in; letter case does not matter.", metavar="NAME", argument=True)


class PasswordOptions(AccountOptions):
    """An account, and the way in which its password is given."""

    password_stdin: bool = setting(False, "Read the password from the first line of standard input instead of asking for it.")


class AddOptions(PasswordOptions):
    """The options of ``annotators add``."""

    role: str = setting("annotator", _ROLES, metavar="ROLE")
    display: str = setting("", "Name that others see; the login name if not given.", metavar="TEXT")
    oidc: str | None = setting(None, "Log in by OIDC with this verified e-mail address or subject.", metavar="EMAIL")


class RoleOptions(AccountOptions):
    """The options of ``annotators role``."""

    role: str = setting(..., _ROLES, metavar="ROLE", argument=True)


@annotators_app.command("add", epilog=examples(*_ADD))
@takes(AddOptions)
def add(asked: AddOptions) -> None:
    """Make an account. Asks twice for a password, unless the person logs in by OIDC.

    An annotator works on records, an adjudicator also decides between versions, an admin also runs the project.
    """

    def make(accounts: Accounts) -> Account:
        if any(account.name == asked.name for account in accounts.list()):  # before somebody thinks of a password
            raise UsageError(f"there is an account {asked.name!r} already", remedy="Choose another name")
        password = _password(asked.password_stdin) if asked.password_stdin or asked.oidc is None else None
        return accounts.add(asked.name, asked.role, display=asked.display, password=password, oidc=asked.oidc)

    _change(asked, "added", make)
    if not asked.as_json:
        say(f"  next      piiloom annotate{store_option(asked.store)}")


@annotators_app.command("list", epilog=examples(*_LIST))
@takes(StoreOptions)
def list_accounts(asked: StoreOptions) -> None:
    """List all accounts, those of people who have left included, and how each can log in."""
    with _accounts(asked.store) as accounts:
        found = accounts.list()
    if asked.as_json:
        say_json({"store": str(asked.store), "annotators": [asdict(account) for account in found]})
    elif found:
        rows = [(one.name, one.display, one.role, _way_in(one), one.oidc or "", one.made_at[:10]) for one in found]
        say("\n".join(in_columns([("name", "shown as", "role", "logs in", "oidc", "since"), *rows], left=range(6))))
    else:
        say(f"no accounts in {asked.store}: whoever uses this machine is the admin")


@annotators_app.command("role", epilog=examples(*_ROLE))
@takes(RoleOptions)
def role(asked: RoleOptions) -> None:
    """Give a person another role; they have to log in again."""
    _change(asked, f"is now {asked.role}", lambda accounts: accounts.change_role(asked.name, asked.role))


@annotators_app.command("password", epilog=examples(*_PASSWORD))
@takes(PasswordOptions)
def password(asked: PasswordOptions) -> None:
    """Give a person a new password; they have to log in again everywhere."""

    def change(accounts: Accounts) -> Account:
        known = accounts.named(asked.name)  # before somebody thinks of a password
        return accounts.set_password(known.name, _password(asked.password_stdin))

    _change(asked, "has a new password", change)


@annotators_app.command("deactivate", epilog=examples(*_DEACTIVATE))
@takes(AccountOptions)
def deactivate(asked: AccountOptions) -> None:
    """Deactivate an account at once; the person's work stays."""
    _change(asked, "is deactivated; the work stays", lambda accounts: accounts.deactivate(asked.name))


@annotators_app.command("reactivate", epilog=examples(*_REACTIVATE))
@takes(AccountOptions)
def reactivate(asked: AccountOptions) -> None:
    """Reactivate a deactivated account, with the same password."""
    _change(asked, "can log in again", lambda accounts: accounts.reactivate(asked.name))


def _change(asked: AccountOptions, news: str, work: Callable[[Accounts], Account]) -> None:
    """Do *work* on the accounts and print the *news* of the account that it returns."""
    with _accounts(asked.store) as accounts:
        account = work(accounts)
    if asked.as_json:
        say_json(asdict(account))
    else:
        say(f"{account.name} ({account.role}) {news}")


@contextmanager
def _accounts(path: Path) -> Iterator[Accounts]:
    """Open the accounts of the store at *path*."""
    from piiloom.annotation_app.serving.services import open_services

    try:
        services = open_services(path)
    except StoreLocked as error:
        remedy = "If that is piiloom annotate, an admin can do this there; otherwise wait for it or stop it"
        raise StoreLocked(error.message, where=error.where, remedy=remedy) from error
    try:
        yield services.accounts
    finally:
        services.close()


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
