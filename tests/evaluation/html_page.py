"""A page as tests read it: its elements and the text in them."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page with their attributes and text. ``inside``: pieces of text by the class or name of an element around them."""

    EMPTY = ("meta", "input", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self._open.append(f"{tag}.{dict(attrs).get('class') or ''}#{dict(attrs).get('id') or ''}")

    def handle_endtag(self, tag):
        assert self._open.pop().split(".")[0] == tag

    def handle_data(self, data):
        self.texts.append((tuple(self._open), data))

    def within(self, name: str) -> str:
        return "".join(data for path, data in self.texts if any(each.startswith(name) or each.endswith(name) for each in path))
