"""Checks for a run in partitions, made before anything is created, so that a refusal leaves nothing behind."""

from __future__ import annotations

import socket
from typing import Any

from piiloom.foundation.errors import RunError, UsageError
from piiloom.foundation.ray_cluster import import_ray
from piiloom.generation.settings.configuration import RunConfig

_REACHABLE_WITHIN_S = 5.0


def check_partitioned(config: RunConfig, *, returned: bool) -> None:
    """Raise ``UsageError`` for settings that cannot be partitioned. *returned*: no folder is shared, so partition stores travel."""
    if config.batch:
        raise UsageError(
            "--ray and --batch exclude each other",
            remedy="Leave --ray out: the provider works on a batch, so more workers do not make it faster",
        )
    if returned and config.budget_usd is not None:
        raise UsageError(
            "a budget on a cluster needs a shared folder, in which all nodes record what they spend",
            where="--budget-usd",
            remedy="Name it with --ray-folder",
        )


def check_ray(workers: int, address: str | None) -> Any:
    """Import Ray and return the module.

    Raises ``UsageError`` if it is not installed or *workers* is below 1, ``RunError`` if no cluster answers at *address*.
    """
    if workers < 1:
        raise UsageError("at least one worker is needed", where="--ray")
    ray = import_ray("--ray")
    _check_reachable(address)
    return ray


def _check_reachable(address: str | None) -> None:
    """Raise an error for a bad address or one where nothing listens: Ray itself would try for minutes and ignore Ctrl-C.

    Raises ``UsageError`` if *address* is not HOST:PORT, ``RunError`` if no connection can be made.
    """
    if address is None or address in {"auto", "local"}:
        return
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not port.isdecimal():
        raise UsageError(
            "this is not the address of a Ray cluster",
            where=f"--ray-address {address}",
            remedy="Give HOST:6379 of its head node; or give auto and start piiloom on a node of the cluster",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHABLE_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        raise RunError(
            f"no Ray cluster answers there ({getattr(error, 'strerror', None) or type(error).__name__})",
            where=address,
            remedy="Start it with ray start --head, and see ray status",
        ) from error
