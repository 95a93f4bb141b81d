"""Connect to Ray: one started on this machine for us, or a cluster. Ray is imported only when this is asked for."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from piiloom.foundation.errors import RunError, UsageError, how_to_install


def import_ray(option: str) -> Any:
    """Import Ray and return the module; raises ``UsageError`` that names *option* if it is not installed."""
    # Turn off Ray's usage statistics; this must be set before the import, which reads it.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError(f"{option} needs Ray, which is not installed", where=option, remedy=how_to_install("ray")) from None


def join(ray: Any, address: str | None, *, object_store_bytes: int, cpus: int | None = None) -> None:
    """Join the cluster at *address*, or start Ray on this machine with *cpus* CPUs (None: all) and an object store of that size.

    Raises ``RunError`` if that fails.
    """
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    # "local" starts a new Ray even if RAY_ADDRESS is set or another Ray runs on this machine.
    ours = {"address": "local", "num_cpus": cpus, "include_dashboard": False, "object_store_memory": object_store_bytes}
    # Ray's own messages on standard error say nothing about the run.
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        with _own_signals():
            ray.init(**quiet, **(ours if address is None else {"address": address}))
    except Exception as error:  # Ray raises a bare one when a node does not start in time
        first = str(error).strip().partition("\n")[0]
        raise RunError(
            f"Ray cannot be {'started' if address is None else 'joined'} ({first})",
            where=address,
            remedy="See ray status; every node needs the same Ray and Python (docs/cluster.md)",
        ) from error


def leave(ray: Any) -> None:
    """End the connection, and Ray itself if ``join`` has started it."""
    with _own_signals():
        ray.shutdown()


def cause_of(error: Exception) -> str:
    """Return the name of what caused an error of Ray, without any text of it."""
    return type(getattr(error, "cause", None) or error).__name__


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore our handlers of SIGINT and SIGTERM afterwards, since Ray replaces them by ones that end the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
