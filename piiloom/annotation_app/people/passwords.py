"""Password hashing with argon2id. A check takes the same time for unknown names as for known ones.

Importing this module raises ``UsageError`` without the extra ``annotate``.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install

try:
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError
except ImportError as error:
    raise UsageError("accounts need argon2-cffi", remedy=f"Install it: {how_to_install('annotate')}") from error

SHORTEST: Final = 10
LONGEST: Final = 1024


def checked(password: str) -> str:
    """Return *password* in NFC, the form that is hashed.

    Raises ``UsageError`` if it is too short or too long, has fewer than four different characters, or holds a control character.
    """
    normal = unicodedata.normalize("NFC", password)
    if not SHORTEST <= len(normal) <= LONGEST:
        raise UsageError(f"a password has {SHORTEST} to {LONGEST} characters", remedy="Three or four random words make a good one")
    if len(set(normal)) < 4:
        raise UsageError("the password has hardly any different characters", remedy="Three or four random words make a good one")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in normal):
        raise UsageError("the password holds a control character", remedy="Type it again")
    return normal


class Passwords:
    """Makes and checks password hashes. The default *hasher* is argon2id with the low-memory parameters of RFC 9106 (64 MiB)."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        # A dummy hash with the same parameters, to verify against when there is no account, so that it takes the same time.
        self._nobody = self._hasher.hash("nobody's password")

    def hashed(self, password: str) -> str:
        """Return the hash of a new password. Raises what ``checked`` raises."""
        return self._hasher.hash(checked(password))

    def fits(self, kept: str | None, password: str) -> bool:
        """Return whether *password* matches the hash *kept*. If *kept* is None, compute a hash all the same and return False."""
        try:
            normal = unicodedata.normalize("NFC", password[:LONGEST])
            fits = self._hasher.verify(self._nobody if kept is None else kept, normal.encode("utf-8", "replace"))
        except (VerificationError, InvalidHashError):
            return False
        return fits and kept is not None

    def outdated(self, kept: str) -> bool:
        """Return whether *kept* was made with other parameters than new hashes."""
        return self._hasher.check_needs_rehash(kept)
