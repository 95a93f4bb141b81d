"""``piiloom annotators``: the accounts of the people who annotate."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples

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
    from piiloom.cli.annotator_accounts import add_account

    add_account(store, name, role, display=display, oidc=oidc, from_stdin=password_stdin, as_json=as_json)


@annotators_app.command("list", epilog=examples(*_LIST))
def list_accounts(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List all accounts, those of people who have left included, and how each can log in."""
    from piiloom.cli.annotator_accounts import print_accounts

    print_accounts(store, as_json=as_json)


@annotators_app.command("role", epilog=examples(*_ROLE))
def role(
    name: _Name,
    new_role: Annotated[str, typer.Argument(metavar="ROLE", help="annotator, adjudicator or admin.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Give a person another role; they have to log in again."""
    from piiloom.cli.annotator_accounts import change_role

    change_role(store, name, new_role, as_json=as_json)


@annotators_app.command("password", epilog=examples(*_PASSWORD))
def password(name: _Name, password_stdin: _FromStdin = False, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Give a person a new password; they have to log in again everywhere."""
    from piiloom.cli.annotator_accounts import change_password

    change_password(store, name, from_stdin=password_stdin, as_json=as_json)


@annotators_app.command("deactivate", epilog=examples(*_DEACTIVATE))
def deactivate(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Deactivate an account at once; the person's work stays."""
    from piiloom.cli.annotator_accounts import change_access

    change_access(store, name, active=False, as_json=as_json)


@annotators_app.command("reactivate", epilog=examples(*_REACTIVATE))
def reactivate(name: _Name, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Reactivate a deactivated account, with the same password."""
    from piiloom.cli.annotator_accounts import change_access

    change_access(store, name, active=True, as_json=as_json)
