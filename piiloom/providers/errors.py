"""Provider errors, independent of the API that they come from.

::

    ProviderError
    ├── RateLimited(retry_after)     429; can be retried
    ├── ProviderUnavailable(retry_after, maybe_billed, overloaded, timed_out)
    │                                5xx, time-out, connection lost or refused; can be retried
    ├── InvalidRequest               4xx that a retry does not fix
    │   └── NotServed                no such model or path, or a refused setting; ends the run
    ├── AuthFailed                   no key, wrong key, no permission; ends the run
    ├── BudgetExceeded               the account or the run has no money left; ends the run
    ├── ServerPaused                 a wait too long for a run: a daily quota, maintenance; ends the run
    └── ReplyRejected                a reply came (and was billed) but cannot be used
        ├── Refused                  the model declined
        ├── Truncated                the reply was cut at the token limit
        └── InvalidReply             the reply is not JSON of the requested schema

``ReplyRejected`` carries the ``completion``, because its cost must be accounted for.
"""

from __future__ import annotations

from piiloom.foundation.errors import ProviderError
from piiloom.providers.protocol import Completion


class RateLimited(ProviderError):
    """Too many requests; ``retry_after`` is the wait in seconds if the server gave one."""

    def __init__(self, message: str, *, retry_after: float | None = None, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """The server failed, timed out, or could not be reached.

    ``retry_after`` is the wait in seconds if the server gave one. ``maybe_billed``: the request may have been processed and
    billed although no reply arrived (time-out, connection reset, incomplete or unreadable body); False if it certainly was
    not (error status, no connection). ``overloaded``: the server reports overload (503, 529); ``timed_out``: it did not answer in
    time. Both mean that fewer requests should be sent.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        maybe_billed: bool = False,
        overloaded: bool = False,
        timed_out: bool = False,
        where: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.retry_after = retry_after
        self.maybe_billed = maybe_billed
        self.overloaded = overloaded
        self.timed_out = timed_out


class InvalidRequest(ProviderError):
    """The server refuses this request; a retry does not help."""


class NotServed(InvalidRequest):
    """The server has no such model or path, or the model refuses a setting: every request of the run would fail."""


class AuthFailed(ProviderError):
    """The API key is missing, wrong, or lacks the permission."""


class BudgetExceeded(ProviderError):
    """No money is left to make the call."""


class ServerPaused(ProviderError):
    """The server answers no more requests for longer than a run should wait: a daily quota is used up, or it is being maintained."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(message, where=where, remedy="Resume the run when the server answers again")


class ReplyRejected(ProviderError):
    """A billed reply that cannot be used. ``replayed``: it came from the journal, so it was already paid for."""

    replayed = False

    def __init__(self, message: str, *, completion: Completion) -> None:
        super().__init__(message)
        self.completion = completion


class Refused(ReplyRejected):
    """The model declined to answer."""


class Truncated(ReplyRejected):
    """The answer was cut at the token limit."""


class InvalidReply(ReplyRejected):
    """The answer is not JSON of the wanted shape."""


# Errors that every other request would get, too: no more requests are sent, and the run ends.
ENDS_RUN = (AuthFailed, BudgetExceeded, NotServed, ServerPaused)
