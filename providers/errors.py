"""What can go wrong at a provider, in words that do not depend on whose API it is.

::

    ProviderError
    ├── RateLimited(retry_after)     429; worth asking again
    ├── ProviderUnavailable(retry_after, maybe_billed, overloaded)
    │                                5xx, time-out, connection lost or refused; worth asking again
    ├── InvalidRequest               4xx that no retry will mend
    │   └── NotServed                there is no such model or path; ends the run
    ├── AuthFailed                   no key, wrong key, no permission; ends the run
    ├── BudgetExceeded               the account or the run has no money left; ends the run
    └── ReplyRejected                an answer came (and was paid), but cannot be used
        ├── Refused                  the model declined
        ├── Truncated                the answer was cut at the token limit
        └── InvalidReply             the answer is not the JSON that was asked for

``ReplyRejected`` carries the ``completion``, since it has to be accounted for.
"""

from __future__ import annotations

from piiloom.foundation.errors import ProviderError
from piiloom.providers.protocol import Completion


class RateLimited(ProviderError):
    """Too many requests; ``retry_after`` in seconds where the server said so."""

    def __init__(self, message: str, *, retry_after: float | None = None, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """The server failed, timed out, or could not be reached; ``retry_after`` in seconds where the server said so.

    ``maybe_billed``: the request may have been answered, and be paid for, without the answer having come (time-out, reset,
    a cut or unreadable body). False where it is certain that it was not: an error status, no connection.
    ``overloaded``: the server is there and says that it has too much to do (503, 529), which calls for fewer requests.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        maybe_billed: bool = False,
        overloaded: bool = False,
        where: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.retry_after = retry_after
        self.maybe_billed = maybe_billed
        self.overloaded = overloaded


class InvalidRequest(ProviderError):
    """The server will not answer this request however often it is sent."""


class NotServed(InvalidRequest):
    """There is no such model, or no such path, on the server: no request of the run would fare better."""


class AuthFailed(ProviderError):
    """The key is missing, wrong, or lacks the right."""


class BudgetExceeded(ProviderError):
    """No money is left to make the call."""


class ReplyRejected(ProviderError):
    """A paid answer that cannot be used; ``replayed``: it was paid for before, and came from the journal."""

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


# What no other request could escape: nobody goes on asking, and the run ends.
ENDS_RUN = (AuthFailed, BudgetExceeded, NotServed)
