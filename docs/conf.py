"""How the pages become a site, for `make docs`: Sphinx reads Markdown with MyST and lays it out with Furo, without any network.

The source folder is the repository, so that a link means the same in the site as in the files. What a page is about and in which order
pages come is said once, in the lists of `docs/index.md`: they become the side bar.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Pages whose lists of links become tables of contents.
LISTS = ("docs/index", "docs/decisions/README")

project = "piiloom"
author = "The piiloom maintainers"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "docs/**.md"]
# Without this, all rooms, stores and environments would be searched for pages.
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in {"docs", "benchmarks"}]

# Anchors are those that GitHub makes of headings.
myst_heading_anchors = 4
nitpicky = True
# Quotes and dashes stay as they are typed: much of a page is to be copied.
smartquotes = False
# A shortened JSON object ("…") cannot be coloured, which is no fault of the page.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "piiloom"
html_extra_path = ["site_root"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def with_contents(text: str) -> str:
    """*text* with a hidden table of contents below each heading: the pages that its list links to, in their order."""
    parts = re.split(r"^(## .+)$", text, flags=re.MULTILINE)
    found = [parts[0]]
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        pages = [f"{name} <{path}>" for name, path in re.findall(r"^- \[([^\]]+)\]\(([^)#]+\.md)\)", body, flags=re.MULTILINE)]
        contents = ["```{toctree}", ":hidden:", f":caption: {heading.removeprefix('## ')}", "", *pages, "```"] if pages else []
        found += [heading, body, "\n".join(contents), "\n"]
    return "".join(found)


def _add_contents(_app: Any, name: str, source: list[str]) -> None:
    if name in LISTS:
        source[0] = with_contents(source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_contents)
