"""Joining Ray: what it raises becomes one error, and our signal handlers come back."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from piiloom.foundation.errors import RunError
from piiloom.foundation.ray_cluster import join
from tests.longer import case_by_case


# Ray raises a bare Exception when a node does not start in time.
@case_by_case("kind", [Exception, ConnectionError, ValueError])
@case_by_case(("address", "said"), [(None, "cannot be started"), ("10.0.0.1:6379", "cannot be joined")])
def test_whatever_ray_raises_is_one_clear_error(kind, address, said):
    before = signal.getsignal(signal.SIGINT)

    def init(**_settings):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise kind("The node timed out during startup.\nand much more")

    with pytest.raises(RunError, match=said) as caught:
        join(SimpleNamespace(init=init), address, object_store_bytes=1)
    assert "and much more" not in str(caught.value)
    assert signal.getsignal(signal.SIGINT) == before
