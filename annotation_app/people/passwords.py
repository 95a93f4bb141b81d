"""Passwords: argon2id hashes, and a check that takes as long for whom nobody knows as for whom somebody does.

Importing this module needs the extra ``annotate``.
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
    """*password* as it is hashed (NFC); ``UsageError`` when it is too short, too long, or one character over and over."""
    normal = unicodedata.normalize("NFC", password)
    if not SHORTEST <= len(normal) <= LONGEST:
        raise UsageError(f"a password has {SHORTEST} to {LONGEST} characters", remedy="Three or four random words make a good one")
    if len(set(normal)) < 4:
        raise UsageError("the password has hardly any different characters", remedy="Three or four random words make a good one")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in normal):
        raise UsageError("the password holds a control character", remedy="Type it anew")
    return normal


class Passwords:
    """Makes and checks hashes; *hasher* None is argon2id with the parameters of RFC 9106 for little memory (64 MiB)."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        # What a password is compared with where there is no account: made with the same parameters, matched by nothing known.
        self._nobody = self._hasher.hash("nobody's password")

    def hashed(self, password: str) -> str:
        """The hash of a new password; raises as ``checked`` does."""
        return self._hasher.hash(checked(password))

    def fits(self, kept: str | None, password: str) -> bool:
        """Whether *password* belongs to the hash *kept*; with None a hash is computed all the same, and the answer is no."""
        try:
            normal = unicodedata.normalize("NFC", password[:LONGEST])
            fits = self._hasher.verify(self._nobody if kept is None else kept, normal.encode("utf-8", "replace"))
        except (VerificationError, InvalidHashError):
            return False
        return fits and kept is not None

    def outdated(self, kept: str) -> bool:
        """Whether *kept* was made with other parameters than new ones are."""
        return self._hasher.check_needs_rehash(kept)
