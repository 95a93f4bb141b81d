"""Make a page of a template: style sheets and scripts inlined, and a policy that allows nothing else.

The policy of a page allows its own script and style sheet by their hashes and no other resource: what a text of the corpus might
smuggle in would not run, and nothing is fetched.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from piiloom.evaluation.pages.tables import printable
from piiloom.foundation.version import __version__

Shown = dict[str, Any]  # what a template lays out, by name


def render_page(package: str, page: object, *, script: str, style: str | None = None) -> str:
    """Return the template ``page.html.j2`` of *package* as HTML.

    It extends ``frame.html.j2`` and lays out *page*. *script* and *style* are its own script and style sheet, beside it in the folder
    ``templates``; they follow the shared ones.
    """
    styled = _asset(__package__, "page.css") + (_asset(package, style) if style is not None else "")
    scripts = _asset(__package__, "theme.js") + _asset(package, script)
    return _filled(package, "page.html.j2", styled, scripts, page=page, piiloom=__version__)


def render_table(package: str, template: str, style: str, table: object) -> str:
    """Return *template* of *package* with *table* as HTML; the page runs no script."""
    return _filled(package, template, _asset(package, style), table=table)


def _filled(package: str, template: str, style: str, script: str = "", **variables: object) -> str:
    scripts = f" script-src '{_digest(script)}';" if script else ""
    policy = f"default-src 'none'; style-src '{_digest(style)}';{scripts} base-uri 'none'; form-action 'none'"
    marked = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files
    return _environment(package).get_template(template).render(policy=policy, **marked, **variables)


@cache
def _asset(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return "sha256-" + b64encode(sha256(content.encode()).digest()).decode()


@cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(package), PackageLoader(__package__)])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"visible": printable, "capfirst": lambda text: text[:1].upper() + text[1:]}
    return made
