"""Write text of unknown content into Markdown."""

from __future__ import annotations

import re

# All ASCII punctuation except characters without a special meaning inside a line of text.
_SPECIAL = re.compile(r"""[!"#$&()*+./:<=>@\[\\\]^_`{|}~]""")
# Control characters, surrogates, line separators, and characters that change the text direction.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """Return *text* as one line, escaped for Markdown; unprintable characters become U+FFFD."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text))


def one_line(text: str) -> str:
    """Return *text* as one line: white space becomes single spaces, unprintable characters U+FFFD."""
    return _UNSHOWN.sub("\ufffd", re.sub(r"\s+", " ", text))
