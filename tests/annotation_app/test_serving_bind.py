"""The socket that the app listens on: what cannot be had is told as what it is."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import PiiloomError, UsageError


def test_the_address_of_another_machine_is_told_as_that():
    from piiloom.annotation_app.serving.server import bind

    with pytest.raises(UsageError, match=r"--host: '192\.0\.2\.1' is not an address of this machine\. Use 127"):  # TEST-NET-1 (RFC 5737)
        bind("192.0.2.1", 0)


def test_a_port_in_use_is_told_as_that():
    from piiloom.annotation_app.serving.server import bind

    with bind("127.0.0.1", 0) as listener, pytest.raises(PiiloomError, match=r"--port: port \d+ of 127\.0\.0\.1 cannot be used") as told:
        bind("127.0.0.1", listener.getsockname()[1])
    assert not isinstance(told.value, UsageError)
