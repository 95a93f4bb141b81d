"""Make ``report.html``: the report of a run as a page to look at, in one file without scripts. Everything in it is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from piiloom.surrogates.outputs.samples import Sample
from piiloom.surrogates.same_values import RULE

PAGE: Final = "report.html"
_MOST_ROWS: Final = 60
_SURE, _LIKELY = 0.9, 0.6
_BANDS: Final = (
    "sure (0.90 and more)",
    "likely (0.60 to 0.89)",
    "unsure (below 0.60)",
    "read by the vocabulary, without a rule",
    "given as spans, and the same values elsewhere",
)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


def report_page(report: Mapping[str, Any], samples: Sequence[Sample]) -> str:
    """Return the page for *report* (the content of ``report.json``) and *samples*."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - needed once, at the end of a run
    from markupsafe import Markup  # noqa: PLC0415

    made = Environment(loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"visible": visible, "number": lambda count: f"{count:,}"}
    style = _style()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    engine = report["engine"]
    return made.get_template("report.html.j2").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - our own file
        report=report,
        engine=engine,
        rules=_rules(engine.get("found_by_rule", [])),
        groups=_shares(engine.get("people", {}).get("groups", {})),
        kinds=_shares(report["replaced"]["by_kind"]),
        left={name: _first(report[key][of]) for name, key, of in (("unknown", "unknown", "tags"), ("alone", "left_alone", "brackets"))},
        residual=engine.get("looks_like_personal_information_still"),
        samples=samples,
    )


def visible(text: object) -> str:
    """Return *text* with signs that nobody sees, or that turn the direction of others, told as [U+202E]."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", str(text))


def _rules(rules: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]], int]]:
    """Return the rules in groups by how sure they are: the group's name, its rules, and how many mentions they found."""
    bands: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _BANDS}
    for rule in rules:
        bands[_band(rule)].append(rule)
    return [(name, found[:_MOST_ROWS], sum(one["count"] for one in found)) for name, found in bands.items() if found]


def _band(rule: Mapping[str, Any]) -> str:
    sure = rule["confidence"]
    if sure is None:
        return _BANDS[4 if rule["pattern"] in {"span", RULE} else 3]
    return _BANDS[0 if sure >= _SURE else 1 if sure >= _LIKELY else 2]


def _shares(counts: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return name, count, and the width of its bar in twentieths of the largest."""
    most = max(counts.values(), default=0) or 1
    return [(name, count, round(20 * count / most)) for name, count in list(counts.items())[:_MOST_ROWS]]


def _first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(counts.items())[:_MOST_ROWS]


@cache
def _style() -> str:
    return (files(__package__ or "") / "templates" / "report.css").read_text(encoding="utf-8")
