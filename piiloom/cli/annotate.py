"""``piiloom annotate`` and ``piiloom annotators``: the app in which several people correct records, and their accounts.

A password is typed or piped in; it is never an argument, which others could see.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.main import get_command

from piiloom.cli.main import run
from piiloom.cli.options import StoreOptions
from piiloom.cli.terminal import command_group, examples, in_columns, say, say_aside, say_result, store_option
from piiloom.corpus.store import StoreSettings
from piiloom.corpus.store.annotation_project import end_sessions
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.derived_stores import restore_snapshot
from piiloom.corpus.store.releases import keep_types
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import StoreLocked, UsageError
from piiloom.foundation.interrupts import forget
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.taxonomy.own_types_file import read_types_file

if TYPE_CHECKING:
    from piiloom.annotation_app.people.accounts import Account, Accounts
    from piiloom.annotation_app.serving.current_user import LoginConfig
    from piiloom.annotation_app.serving.services import Services


ANNOTATE_EXAMPLES = examples(
    "piiloom annotate",
    "piiloom annotate --store outputs/health.duckdb --port 8600",
    "piiloom annotate --types my_types.yaml",
    "piiloom annotate --detect '--detector presidio'",
    "piiloom annotate --login --snapshot-every 5 --keep-snapshots 48",
    "piiloom annotate --host 0.0.0.0 --behind-https",
    "piiloom annotate --restore outputs/piiloom.duckdb.snapshots/2026-11-22T101500.000Z.duckdb",
)


SCRIPT_EPILOG = examples(
    "streamlit run annotation_app/app.py -- --store outputs/health.duckdb",
    "streamlit run annotation_app/app.py --server.port 8600 -- --login --snapshot-every 5",
)
_ANYWHERE = {"0.0.0.0", "::"}  # noqa: S104 - compared with, not bound to
_STOPPED = "stopped; everything that was shown as saved is in the store"


class AppOptions(StoreSettings):
    """The options of the app, whoever binds its port."""

    login: bool | None = setting(
        None, "With or without a login of people; if not given, with one as soon as there are accounts.", flags="--login/--single-user"
    )
    behind_https: bool = setting(False, "A proxy on this machine terminates HTTPS: send cookies over HTTPS only.")
    snapshot_every: float = setting(15.0, "Time between copies of a changed store; 0 for none.", metavar="MINUTES", ge=0)
    keep_snapshots: int = setting(24, "Number of these copies that are kept; the oldest go first.", metavar="N", ge=1)
    types: OptionalPath = setting(None, "Your own entity types to choose from as well; the store remembers them.", metavar="YAML")
    detect: list[str] = setting(
        [],
        "Options of piiloom detect for a detector that admins may run for suggestions; repeatable. Detectors that need no model are "
        "offered anyway.",
        metavar="OPTIONS",
    )


class AnnotateOptions(AppOptions):
    """The options of ``piiloom annotate``."""

    host: str = setting("127.0.0.1", "Address to listen at. Others than this machine's own need accounts.", metavar="HOST")
    port: int = setting(8501, "Port to listen at; 0 takes any free one.", ge=0, le=65535)
    restore: OptionalPath = setting(
        None, "Replace the store by this snapshot, keep the current file beside it, and exit.", metavar="SNAPSHOT"
    )


@takes(AnnotateOptions)
def annotate(asked: AnnotateOptions) -> None:
    """Serve the annotation app on the records of a store, until Ctrl-C. Every edit is saved as it is made.

    Without accounts it is for one person on this machine, and nobody logs in. `piiloom annotators add` makes accounts; from the
    first one on, people log in.
    """
    if asked.restore is not None:
        _restore(asked.restore, asked.store)
        return
    from piiloom.annotation_app.serving.server import bind, serve, url_of

    services = _opened(asked)
    try:
        config = _login_config(asked, asked.host, services)
        with bind(asked.host, asked.port) as listener:
            config = replace(config, cookie=_cookie(listener.getsockname()[1]))
            _begin(asked, asked.host, url_of(listener, asked.host), services, login=config.logins is not None)
            serve(config, services, listener)
            forget()  # Ctrl-C is how a server is ended
    finally:
        services.close()
    say(_STOPPED)


def streamlit_arguments() -> dict[str, Any]:
    """Return the arguments of the ``st.App`` in ``annotation_app/app.py``, which ``streamlit run`` imports once the port is bound.

    The options of the script are in ``sys.argv``; address and port are Streamlit's own. Exits with a message where the app must not be
    served.
    """
    found: dict[str, Any] = {}

    @takes(AppOptions)
    def script(asked: AppOptions) -> None:
        """Serve the annotation app on the records of a store, until Ctrl-C, as piiloom annotate does.

        Before `--` stand the options of Streamlit: --server.port, and --server.address instead of 127.0.0.1.
        """
        from piiloom.annotation_app.serving.server import bound_address

        found.update(_arguments(asked, *bound_address()))

    app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.command(epilog=SCRIPT_EPILOG)(script)
    command = get_command(app)
    code = run(sys.argv[1:], lambda words: command(words, prog_name="streamlit run annotation_app/app.py --", standalone_mode=False))
    if not found:
        raise SystemExit(code)
    return found


def _arguments(asked: AppOptions, host: str, port: int) -> dict[str, Any]:
    """Return the arguments of an ``st.App`` for a process of ``streamlit run``, which has bound *host* and *port* already."""
    from piiloom.annotation_app.serving.server import arguments_under_streamlit

    services = _opened(asked)
    try:
        config = replace(_login_config(asked, host, services), cookie=_cookie(port), may_be_forwarded=asked.behind_https)
        arguments = arguments_under_streamlit(config, services, closed=lambda: say(_STOPPED))
        name = f"[{host}]" if ":" in host else host
        _begin(asked, host, f"http://{name}:{port}", services, login=config.logins is not None)
    except BaseException:
        services.close()
        raise
    return arguments


def _opened(asked: AppOptions) -> Services:
    """Open the store of *asked*, with its own types and the detectors that admins can choose from."""
    from piiloom.annotation_app.serving.services import open_services
    from piiloom.cli.detect import CommandDetectors

    if asked.types is not None:
        own = read_types_file(asked.types)
        with Store.open(asked.store, create=False) as store:
            keep_types(store, own)
    return open_services(
        asked.store,
        snapshot_every_s=asked.snapshot_every * 60,
        keep_snapshots=asked.keep_snapshots,
        detectors=CommandDetectors(asked.detect),
    )


def _login_config(asked: AppOptions, host: str, services: Services) -> LoginConfig:
    """Return the way in which people log in. Raises ``UsageError`` where the app must not be served so."""
    from piiloom.annotation_app.serving.current_user import LoginConfig, oidc_configured
    from piiloom.annotation_app.serving.server import apply_settings

    apply_settings()
    oidc = oidc_configured()
    accounts = [account for account in services.accounts.list() if account.active]
    may = [account for account in accounts if account.has_password or (oidc and account.oidc)]
    login = login_needed(asked, host, accounts=len(accounts), usable=len(may))
    return LoginConfig(
        logins=services.logins if login else None,
        accounts=services.accounts if login else None,
        oidc=oidc and login,
        behind_https=asked.behind_https,
    )


def _cookie(port: int) -> str:
    return f"piiloom_session_{port}"


def _begin(asked: AppOptions, host: str, url: str, services: Services, *, login: bool) -> None:
    say(f"annotating {asked.store} at {url}   (Ctrl-C stops)")
    if not login:
        say("  no login: you are the admin, and only this machine can connect")
    if host in _ANYWHERE:
        say(f"  reachable at every address of this machine, port {url.rpartition(':')[2]}")
    sys.stdout.flush()
    from piiloom.annotation_app.serving.server import is_loopback

    if not asked.behind_https and not is_loopback(host):
        say_aside("passwords and texts cross the network unencrypted: put a proxy with HTTPS before the app and add --behind-https")
    if asked.snapshot_every > 0:
        services.snapshots.start()


def login_needed(asked: AppOptions, host: str, *, accounts: int, usable: int) -> bool:
    """Return whether people log in. Raises ``UsageError`` where nobody could, and where the whole network could come in without a login.

    *accounts* is the number of accounts of active people, *usable* of these have a way in.
    """
    from piiloom.annotation_app.serving.server import is_loopback

    alone = is_loopback(host) and not asked.behind_https
    if asked.login is False:
        if not alone:
            raise UsageError(
                "without a login the app serves this machine only",
                where="--single-user",
                remedy="Leave out --host and --behind-https, or make accounts: piiloom annotators add",
            )
        return False
    if asked.login is None and alone and accounts == 0:
        return False
    if usable == 0:
        raise UsageError(
            "nobody could log in: there is no account with a password" + (", and OIDC is not configured" if accounts else ""),
            where=str(asked.store),
            remedy=f"Make one first: piiloom annotators add NAME --role admin{store_option(asked.store)}",
        )
    return True


def _restore(snapshot: Path, store: Path) -> None:
    """Replace *store* by *snapshot*. Everybody is logged out: sessions that were ended since would live again."""
    done = restore_snapshot(snapshot, store, datetime.now(UTC))
    with Store.open(store, create=False) as opened:
        end_sessions(opened)
    say(f"{store} was restored from {done.snapshot}")
    if done.aside is not None:
        say(f"  before    {done.aside}   (the store before; delete it when you no longer need it)")
    say("  note      accounts and passwords are those of the snapshot; everybody has to log in again")
    say(f"  next      piiloom annotate{store_option(store)}")


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
    rows = [(one.name, one.display, one.role, _way_in(one), one.oidc or "", one.made_at[:10]) for one in found]
    table = in_columns([("name", "shown as", "role", "logs in", "oidc", "since"), *rows], left=range(6))
    lines = table if found else [f"no accounts in {asked.store}: whoever uses this machine is the admin"]
    say_result({"store": str(asked.store), "annotators": [asdict(account) for account in found]}, *lines, as_json=asked.as_json)


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
    say_result(asdict(account), f"{account.name} ({account.role}) {news}", as_json=asked.as_json)


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
