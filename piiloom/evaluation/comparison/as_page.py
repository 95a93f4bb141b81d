"""The table as an HTML page of its own, which runs no script and fetches nothing."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from piiloom.evaluation.comparison.table import ComparisonTable


def html_page(table: ComparisonTable) -> str:
    """Return the page; names in *table* are escaped, and its policy would not let anything in them run either."""
    style = (files(__package__) / "templates" / "comparison.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return _template().render(table=table, policy=policy, style=Markup(style))  # noqa: S704 - our own file


@cache
def _template() -> Template:
    loader = PackageLoader(__package__)
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.get_template("comparison.html.j2")
