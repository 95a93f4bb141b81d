"""What is said of one candidate, and why."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from piiloom.surrogates.placeholders.reading import Meaning

Status = Literal["known", "unknown", "left", "nothing"]

UNREAD: Final = "its words are not known"
UNTOLD: Final = "nothing tells what stood there"
DIGITS: Final = "a number of four or more digits in brackets"
MASK: Final = "mask"  # the role of what a form alone tells to be masked: "XXXX", "XX/XX/2019"
CONTACT: Final = "contact"  # the role of a tag that says how to reach somebody, and not by what: "[CONTACT]"
EXEMPTION: Final = "exemption"  # the grammar of "(b)(6)"
NUMBER: Final = "[{number}]"  # the pattern of a number in brackets
NOTHING: Final = Meaning("generic")
UNTOLD_MEANING: Final = Meaning(
    "generic", role="blank", same="mention", context="mention"
)  # what stands around tells the kind, or nothing does


class Verdict(NamedTuple):
    """The classification of one candidate.

    ``status`` is known, unknown (reported), left (ordinary text) or nothing (ignored). ``family`` is the candidate's pattern, ``sure``
    the confidence in the meaning (0 to 1), ``original`` the value that the tag contains, if any, and ``why`` the reason for an
    unknown or left one. ``markup`` is the element name if the candidate may be markup.
    """

    status: Status
    family: str
    meaning: Meaning = NOTHING
    original: str = ""
    sure: float = 0.0
    why: str = ""
    markup: str = ""
