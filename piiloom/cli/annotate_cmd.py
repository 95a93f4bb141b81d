"""``piiloom annotate``: several people correct records in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from piiloom.cli.main import run
from piiloom.cli.options import DEFAULT_STORE, StoreOption
from piiloom.cli.terminal import examples

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
    from piiloom.cli.annotating import Wanted, restore_and_print, serve_and_print

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
        from piiloom.cli import annotating

        host, port = bound_address()
        wanted = annotating.Wanted(
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
        found.update(annotating.streamlit_arguments(wanted))

    app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.command(epilog=SCRIPT_EPILOG)(script)
    command = get_command(app)
    code = run(sys.argv[1:], lambda words: command(words, prog_name="streamlit run annotation_app/app.py --", standalone_mode=False))
    if not found:
        raise SystemExit(code)
    return found
