"""Make ``index.html``: the contents laid out by the template, style sheet and script inlined, and a policy that allows nothing else.

The policy of the page allows its own script and style sheet by their hashes and no other resource: what a text of the corpus might
smuggle in would not run, and nothing is fetched.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.page.contents import page_contents
from piiloom.evaluation.report.page.marked_texts import visible
from piiloom.evaluation.report.sources import Corpus


def dataset_page(corpus: Corpus, figures: Figures) -> str:
    """Return the page as HTML; equal records and figures give equal text."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page_contents(corpus, figures),
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            piiloom=piiloom_version(),
        )
    )


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return "sha256-" + b64encode(sha256(content.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"visible": visible, "capfirst": lambda text: text[:1].upper() + text[1:]}
    return made
