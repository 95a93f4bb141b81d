"""How long the parts of the dashboard take over a store: each for the first time, and when nothing has changed since.

Pages are drawn as Streamlit draws them, with their tables and charts, but without a browser. ``annotation_load`` calls this.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path

from streamlit.testing.v1 import AppTest

from piiloom.annotation_app.screens.dashboard import DASHBOARD_PARTS, read_ahead
from piiloom.annotation_app.screens.tab_state import load_all
from piiloom.annotation_app.serving.current_user import LoginConfig, use_login_config
from piiloom.annotation_app.serving.services import open_services, set_services

_PATIENCE_S = 120.0


def view_parts(path: Path) -> None:
    """Print a line for each part, in a process that has just begun ("cold") and in one that had time to load and to read ahead.

    The dashboard opens with its first part, so that a cold view of another one comes after that.
    """
    for part in DASHBOARD_PARTS:
        _elsewhere(path, [part], prepared=False)
    _elsewhere(path, list(DASHBOARD_PARTS), prepared=True)


def _elsewhere(path: Path, parts: Sequence[str], *, prepared: bool) -> None:
    worker = multiprocessing.get_context("spawn").Process(target=_view, args=(path, parts, prepared))
    worker.start()
    worker.join()
    if worker.exitcode:
        raise RuntimeError(f"a view of the dashboard ended with {worker.exitcode}")


def _view(path: Path, parts: Sequence[str], prepared: bool) -> None:
    logging.disable(logging.WARNING)  # Streamlit wonders at a page without a server
    services = open_services(path)
    use_login_config(LoginConfig())
    set_services(services)
    try:
        if prepared:
            load_all()
            read_ahead()
        page = AppTest.from_function(_draw, default_timeout=_PATIENCE_S)
        first = _run(page)
        for part in parts:
            if part != next(iter(DASHBOARD_PARTS)):
                page.segmented_control(key="dashboard_part").set_value(part)
                first = _run(page)
            again = _run(page)
            print(json.dumps({"view": part, "cold": not prepared, "first_ms": first, "again_ms": again}), flush=True)
    finally:
        set_services(None)
        use_login_config(None)
        services.close()


def _run(page: AppTest) -> float:
    began = time.perf_counter()
    page.run()
    taken = round(1000 * (time.perf_counter() - began), 1)
    if page.exception:
        raise RuntimeError(str(page.exception))
    return taken


def _draw() -> None:
    # Streamlit runs the text of this function by itself, without what stands around it.
    from piiloom.annotation_app.people.accounts import LOCAL_USER
    from piiloom.annotation_app.screens.dashboard import dashboard_page

    dashboard_page(LOCAL_USER)
