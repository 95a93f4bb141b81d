"""Write text of unknown content into Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

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


def pipe_table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: Collection[int] = (0,)) -> str:
    """Return a pipe table of cells that are escaped already; columns that are not among *texts* hold figures, to the right."""
    ruler = ["---" if place in texts else "---:" for place in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows))
