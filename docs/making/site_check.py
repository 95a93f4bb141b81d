"""Reads a finished site: each link leads to a file and an anchor that are there, and no page takes an asset from another host.

Sphinx checks the links of Markdown, but not those of HTML in a page, of the theme, or of the tables of contents; and it does not ask where
scripts, styles, fonts and images come from.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a page takes something in, as opposed to linking to it.
_ASSETS = {"src", "srcset", "poster", "data"}
_STYLE_URL = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was read: numbers of pages, links and assets, and the faults in words."""

    pages: int
    links: int
    assets: int
    faults: list[str]


@dataclass
class Page(HTMLParser):
    """The anchors, links and assets of one page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        said = {name: value for name, value in attrs if value}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        for name in _ASSETS & said.keys():
            places = [one.split()[0] for one in said[name].split(",")] if name == "srcset" else [said[name]]
            self.assets += places
        if "href" in said:
            (self.assets if tag == "link" else self.links).append(said["href"])


def check_site(site: Path) -> Checked:
    """Read all pages and style sheets of *site*."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    anchors = {path: page.anchors for path, page in pages.items()}
    faults = [fault for path, page in pages.items() for fault in _faults(site, path, page, anchors)]
    for sheet in sorted(site.rglob("*.css")):
        taken = [one or other for one, other in _STYLE_URL.findall(sheet.read_text(encoding="utf-8"))]
        faults += [f"{sheet.relative_to(site)}: takes {url} from another host" for url in taken if _is_foreign(url)]
    return Checked(
        pages=len(pages),
        links=sum(len(page.links) for page in pages.values()),
        assets=sum(len(page.assets) for page in pages.values()),
        faults=faults,
    )


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _faults(site: Path, path: Path, page: Page, anchors: dict[Path, set[str]]) -> Iterator[str]:
    where = path.relative_to(site)
    for url in page.assets:
        if _is_foreign(url):
            yield f"{where}: takes {url} from another host"
        elif not url.startswith("data:") and not _target(path, url).is_file():
            yield f"{where}: {url} is not there"
    for url in page.links:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue  # another host, or mail: nothing is asked of the network
        target = _target(path, url)
        if not target.is_file():
            yield f"{where}: the link {url} leads nowhere"
        elif parts.fragment and target in anchors and unquote(parts.fragment) not in anchors[target]:
            yield f"{where}: the link {url} leads to no such place"


def _is_foreign(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _target(path: Path, url: str) -> Path:
    """The file that *url* names on the page *path*."""
    name = unquote(urlsplit(url).path)
    return path if not name else (path.parent / name).resolve()


def main() -> int:
    """``python -m docs.making.site_check FOLDER``."""
    checked = check_site(Path(sys.argv[1]).resolve())
    sys.stdout.write(f"{checked.pages} pages, {checked.links} links, {checked.assets} assets, {len(checked.faults)} faults\n")
    sys.stderr.writelines(f"{fault}\n" for fault in checked.faults)
    return 1 if checked.faults else 0


if __name__ == "__main__":
    sys.exit(main())
