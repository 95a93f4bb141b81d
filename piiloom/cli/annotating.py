"""The work behind ``piiloom annotate``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from piiloom.cli.run_summary import store_option
from piiloom.cli.terminal import say, say_aside
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


def streamlit_arguments(wanted: Wanted) -> dict[str, Any]:
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
    from piiloom.cli.detect import CommandDetectors  # noqa: PLC0415 - it needs modules of the annotation app

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
