"""``piiloom annotate``: several people correct records in the browser."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from piiloom.cli.main import run
from piiloom.cli.options import DEFAULT_STORE, StoreOption
from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import examples, say, say_aside
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.login_sessions import end_all_sessions
from piiloom.corpus.store.own_types import keep_types
from piiloom.corpus.store.snapshots import restore_snapshot
from piiloom.foundation.errors import UsageError
from piiloom.foundation.interrupts import forget
from piiloom.taxonomy.own_types_file import read_types_file

if TYPE_CHECKING:
    from piiloom.annotation_app.serving.login_config import LoginConfig
    from piiloom.annotation_app.serving.services import Services


EPILOG = examples(
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

Login = Annotated[
    bool | None, typer.Option("--login/--single-user", help="Whether people log in; when not given, they do as soon as there are accounts.")
]
BehindHttps = Annotated[
    bool, typer.Option("--behind-https", help="A proxy on this machine terminates HTTPS: send cookies over HTTPS only.")
]
SnapshotEvery = Annotated[
    float, typer.Option("--snapshot-every", metavar="MINUTES", min=0, help="Copy the store this often if it changed; 0 for never.")
]
KeepSnapshots = Annotated[
    int, typer.Option("--keep-snapshots", metavar="N", min=1, help="How many of these copies are kept; the oldest go first.")
]
Types = Annotated[
    Path | None, typer.Option("--types", metavar="YAML", help="Entity types of your own to choose from as well; the store remembers them.")
]
Detect = Annotated[
    list[str] | None,
    typer.Option(
        "--detect",
        metavar="OPTIONS",
        help="A detector that admins may have look for suggestions, as options of piiloom detect; repeatable. Those that need no model are "
        "offered anyway.",
    ),
]


def annotate(
    store: StoreOption = DEFAULT_STORE,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The address to listen at. Others than this machine's own need accounts.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen at; 0 takes any free one.")] = 8501,
    login: Login = None,
    behind_https: BehindHttps = False,
    snapshot_every: SnapshotEvery = 15.0,
    keep_snapshots: KeepSnapshots = 24,
    types: Types = None,
    detect: Detect = None,
    restore: Annotated[
        Path | None,
        typer.Option(
            "--restore", metavar="SNAPSHOT", help="Replace the store by this snapshot, keep the current file beside it, and exit."
        ),
    ] = None,
) -> None:
    """Serve the annotation app on the records of a store, until Ctrl-C. Every edit is saved as it is made.

    Without accounts it is for one person on this machine, and nobody logs in. `piiloom annotators add` makes accounts; from the
    first one on, people log in.
    """
    if restore is not None:
        restore_and_print(restore, store)
        return
    serve_and_print(
        Wanted(
            store=store,
            host=host,
            port=port,
            login=login,
            behind_https=behind_https,
            snapshot_every_s=snapshot_every * 60,
            keep_snapshots=keep_snapshots,
            types=types,
            detect=tuple(detect or ()),
        )
    )


def streamlit_arguments() -> dict[str, Any]:
    """Return the arguments of the ``st.App`` in ``annotation_app/app.py``, which ``streamlit run`` imports once the port is bound.

    The options of the script are in ``sys.argv``; address and port are Streamlit's own. Exits with a message where the app must not be
    served.
    """
    found: dict[str, Any] = {}

    def script(
        store: StoreOption = DEFAULT_STORE,
        login: Login = None,
        behind_https: BehindHttps = False,
        snapshot_every: SnapshotEvery = 15.0,
        keep_snapshots: KeepSnapshots = 24,
        types: Types = None,
        detect: Detect = None,
    ) -> None:
        """Serve the annotation app on the records of a store, until Ctrl-C, as piiloom annotate does.

        Before `--` stand the options of Streamlit: --server.port, and --server.address instead of 127.0.0.1.
        """
        from piiloom.annotation_app.serving.streamlit_settings import bound_address

        host, port = bound_address()
        wanted = Wanted(
            store=store,
            host=host,
            port=port,
            login=login,
            behind_https=behind_https,
            snapshot_every_s=snapshot_every * 60,
            keep_snapshots=keep_snapshots,
            types=types,
            detect=tuple(detect or ()),
        )
        found.update(arguments_of(wanted))

    app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.command(epilog=SCRIPT_EPILOG)(script)
    command = get_command(app)
    code = run(sys.argv[1:], lambda words: command(words, prog_name="streamlit run annotation_app/app.py --", standalone_mode=False))
    if not found:
        raise SystemExit(code)
    return found


_ANYWHERE = {"0.0.0.0", "::"}  # noqa: S104 - compared with, not bound to
_STOPPED = "stopped; everything that was shown as saved is in the store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How to serve. ``login`` None: people log in where there are accounts. ``snapshot_every_s`` 0: no snapshots.

    ``detect``: options of ``piiloom detect``, one text for each detector that admins can choose besides those that need nothing.
    """

    store: Path
    host: str
    port: int
    login: bool | None
    behind_https: bool
    snapshot_every_s: float
    keep_snapshots: int
    types: Path | None = None
    detect: Sequence[str] = ()


def serve_and_print(wanted: Wanted) -> None:
    """Serve until told to stop; says where, and when it has stopped."""
    from piiloom.annotation_app.serving.server import bind, serve, url_of  # noqa: PLC0415 - it takes a second

    services = _opened(wanted)
    try:
        config = _login_config(wanted, services)
        with bind(wanted.host, wanted.port) as listener:
            config = replace(config, cookie=_cookie(listener.getsockname()[1]))
            _begin(wanted, url_of(listener, wanted.host), services, login=config.logins is not None)
            serve(config, services, listener)
            forget()  # Ctrl-C is how a server is ended
    finally:
        services.close()
    say(_STOPPED)


def arguments_of(wanted: Wanted) -> dict[str, Any]:
    """Return the arguments of an ``st.App`` for a process of ``streamlit run``, which has bound the host and port of *wanted* already."""
    from piiloom.annotation_app.serving.server import arguments_under_streamlit  # noqa: PLC0415 - it takes a second

    services = _opened(wanted)
    try:
        config = replace(_login_config(wanted, services), cookie=_cookie(wanted.port), may_be_forwarded=wanted.behind_https)
        arguments = arguments_under_streamlit(config, services, closed=lambda: say(_STOPPED))
        name = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
        _begin(wanted, f"http://{name}:{wanted.port}", services, login=config.logins is not None)
    except BaseException:
        services.close()
        raise
    return arguments


def _opened(wanted: Wanted) -> Services:
    """Open the store of *wanted*, with its own types and the detectors that admins can choose from."""
    from piiloom.annotation_app.serving.services import open_services  # noqa: PLC0415 - it loads Streamlit
    from piiloom.cli.app_detectors import CommandDetectors  # noqa: PLC0415 - it needs modules of the annotation app

    if wanted.types is not None:
        own = read_types_file(wanted.types)
        with Store.open(wanted.store, create=False) as store:
            keep_types(store, own)
    return open_services(
        wanted.store,
        snapshot_every_s=wanted.snapshot_every_s,
        keep_snapshots=wanted.keep_snapshots,
        detectors=CommandDetectors(wanted.detect),
    )


def _login_config(wanted: Wanted, services: Services) -> LoginConfig:
    """Return how people log in. Raises ``UsageError`` where the app must not be served so."""
    from piiloom.annotation_app.serving.login_config import LoginConfig  # noqa: PLC0415 - it loads Streamlit
    from piiloom.annotation_app.serving.oidc import oidc_configured  # noqa: PLC0415
    from piiloom.annotation_app.serving.streamlit_settings import apply_settings  # noqa: PLC0415

    apply_settings()
    oidc = oidc_configured()
    accounts = [account for account in services.accounts.list() if account.active]
    may = [account for account in accounts if account.has_password or (oidc and account.oidc)]
    login = login_needed(wanted, accounts=len(accounts), usable=len(may))
    return LoginConfig(
        logins=services.logins if login else None,
        accounts=services.accounts if login else None,
        oidc=oidc and login,
        behind_https=wanted.behind_https,
    )


def _cookie(port: int) -> str:
    return f"piiloom_session_{port}"


def _begin(wanted: Wanted, url: str, services: Services, *, login: bool) -> None:
    _announce(wanted, url, login=login)
    if wanted.snapshot_every_s > 0:
        services.snapshots.start()


def login_needed(wanted: Wanted, *, accounts: int, usable: int) -> bool:
    """Whether people log in. Raises ``UsageError`` where nobody could, and where all the network could come in without.

    *accounts* are those of active people, *usable* those of them that have a way in.
    """
    from piiloom.annotation_app.serving.request_filter import is_loopback  # noqa: PLC0415 - it loads Streamlit

    alone = is_loopback(wanted.host) and not wanted.behind_https
    if wanted.login is False:
        if not alone:
            raise UsageError(
                "without a login the app serves this machine only",
                where="--single-user",
                remedy="Leave out --host and --behind-https, or make accounts: piiloom annotators add",
            )
        return False
    if wanted.login is None and alone and accounts == 0:
        return False
    if usable == 0:
        raise UsageError(
            "nobody could log in: there is no account with a password" + (", and OIDC is not configured" if accounts else ""),
            where=str(wanted.store),
            remedy=f"Make one first: piiloom annotators add NAME --role admin{store_option(wanted.store)}",
        )
    return True


def restore_and_print(snapshot: Path, store: Path) -> None:
    """Put *snapshot* in the place of *store*. Everybody is logged out: sessions that were ended since would live again."""
    done = restore_snapshot(snapshot, store, datetime.now(UTC))
    with Store.open(store, create=False) as opened:
        end_all_sessions(opened)
    say(f"{store} was restored from {done.snapshot}")
    if done.aside is not None:
        say(f"  before    {done.aside}   (the store before; delete it when you no longer need it)")
    say("  note      accounts and passwords are those of the snapshot; everybody has to log in again")
    say(f"  next      piiloom annotate{store_option(store)}")


def _announce(wanted: Wanted, url: str, *, login: bool) -> None:
    say(f"annotating {wanted.store} at {url}   (Ctrl-C stops)")
    if not login:
        say("  no login: you are the admin, and only this machine can connect")
    if wanted.host in _ANYWHERE:
        say(f"  reachable at every address of this machine, port {url.rpartition(':')[2]}")
    sys.stdout.flush()
    from piiloom.annotation_app.serving.request_filter import is_loopback  # noqa: PLC0415 - it loads Streamlit

    if not wanted.behind_https and not is_loopback(wanted.host):
        say_aside("passwords and texts cross the network unencrypted: put a proxy with HTTPS before the app and add --behind-https")
