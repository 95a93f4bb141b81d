"""Make ``report.html``: the report of a run as a page to look at, in one file without scripts. Everything in it is escaped.

The page is put together here and not by Jinja, which would take a tenth of the time of a run over few documents.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from piiloom.surrogates.outputs.samples import Piece, Sample

PAGE: Final = "report.html"
_MOST_ROWS: Final = 60
_SURE, _LIKELY = 0.9, 0.6
_BANDS: Final = (
    "sure (0.90 and more)",
    "likely (0.60 to 0.89)",
    "unsure (below 0.60)",
    "read by the vocabulary, without a rule",
    "given as spans",
)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_ESCAPED: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
_LIMITS: Final = "It knows identifiers, and names after titles and greetings; it does not find everything."
_NUMBER: Final = '<th scope="col" class="n">number</th>'


def report_page(report: Mapping[str, Any], samples: Sequence[Sample]) -> str:
    """Return the page for *report* (the content of ``report.json``) and *samples*."""
    engine = report["engine"]
    return "".join(
        [
            *_head(report["input"]["name"]),
            *_facts(report, engine.get("people", {}).get("people", 0)),
            *_warnings(report["warnings"]),
            *_found(report["replaced"]["by_kind"], _rules(engine.get("found_by_rule", []))),
            *_before_and_after(samples),
            *_left(report["unknown"], report["left_alone"]),
            *_balance(engine.get("people", {})),
            *_residual(engine.get("looks_like_personal_information_still")),
            "</main>\n</body>\n</html>",
        ]
    )


def _head(name: str) -> Iterator[str]:
    style = _style()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_text(policy)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
    yield f"<title>Surrogates in {_text(name)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
    yield f"<h1>Surrogates in <bdi>{_text(name)}</bdi></h1>\n"


def _facts(report: Mapping[str, Any], people: int) -> Iterator[str]:
    facts = {
        "documents": f"{report['documents']:,}",
        "surrogates": f"{report['replaced']['total']:,}",
        "people": f"{people:,}",
        "locale": report["locale"],
        "seed": report["seed"],
        "piiloom": report["version"],
    }
    yield "<dl>\n"
    yield from (f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>\n" for name, value in facts.items())
    yield "</dl>\n"


def _warnings(warnings: Sequence[str]) -> Iterator[str]:
    if warnings:
        yield "<h2>Warnings</h2>\n<ul>\n"
        yield from (f'<li class="warn"><bdi>{_text(warning)}</bdi></li>\n' for warning in warnings)
        yield "</ul>\n"


def _found(kinds: Mapping[str, int], rules: Iterable[tuple[str, Sequence[Mapping[str, Any]], int]]) -> Iterator[str]:
    yield "<h2>What was found</h2>\n<h3>By kind</h3>\n"
    yield from _bars(kinds, "kind")
    for name, found, total in rules:
        yield f"<h3>{name}: {total:,}</h3>\n"
        heads = f'<th scope="col">placeholder</th><th scope="col">kind</th><th scope="col" class="n">confidence</th>{_NUMBER}'
        yield from _table(name, heads, map(_rule, found))


def _rule(rule: Mapping[str, Any]) -> str:
    sure = "–" if rule["confidence"] is None else f"{rule['confidence']:.2f}"
    count = f"{rule['count']:,}{'' if rule['use'] else ' (not used)'}"
    cells = f'<td>{_text(rule["kind"])}</td><td class="n">{sure}</td><td class="n">{count}</td>'
    return f"<td><bdi>{_text(rule['pattern'])}</bdi></td>{cells}"


def _before_and_after(samples: Sequence[Sample]) -> Iterator[str]:
    yield "<h2>Before and after</h2>\n"
    if not samples:
        yield "<p>Nothing was replaced in the first documents.</p>\n"
        return
    yield "<p>From the beginning of the corpus. Where an original was known, its type stands in its place.</p>\n"
    for sample in samples:
        before, after = "… " if sample.cut[0] else "", " …" if sample.cut[1] else ""
        yield f'<h3><bdi>{_text(sample.place)}</bdi></h3>\n<div class="pair">\n'
        yield f'<p dir="auto">{before}{"".join(map(_gone, sample.pieces))}{after}</p>\n'
        yield f'<p dir="auto">{before}{"".join(map(_put, sample.pieces))}{after}</p>\n</div>\n'


def _gone(piece: Piece) -> str:
    return f'<mark class="gone">{_text(piece.before)}</mark>' if piece.kind else _text(piece.before)


def _put(piece: Piece) -> str:
    return f'<mark title="{_text(piece.kind)}">{_text(piece.after)}</mark>' if piece.kind else _text(piece.after)


def _left(unknown: Mapping[str, Any], alone: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>What was left</h2>\n"
    if unknown["tags"]:
        yield f'<p class="warn">{unknown["total"]:,} places look like placeholders, and nothing is known about what they mean.</p>\n'
        yield from _counts(_first(unknown["tags"]), "unknown placeholder")
    else:
        yield "<p>No placeholder of an unknown meaning was left.</p>\n"
    if alone["brackets"]:
        yield f"<p>{alone['total']:,} brackets were taken for ordinary text.</p>\n"
        yield from _counts(_first(alone["brackets"]), "left alone")


def _balance(people: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>Balance</h2>\n"
    if not people.get("groups"):
        yield "<p>There are no people.</p>\n"
        return
    genders = ", ".join(f"{_text(name)} {count:,}" for name, count in people["gender_told_by_text"].items())
    yield "<p>People by gender and region of their names. The largest difference between two groups is "
    yield f"{people['largest_difference']:,}. What the texts tell of gender: {genders}.</p>\n"
    yield from _bars(people["groups"], "group")


def _residual(residual: Mapping[str, int] | None) -> Iterator[str]:
    yield "<h2>What still looks personal</h2>\n"
    if residual is None:
        yield "<p>The texts were not scanned (--no-scan).</p>\n"
    elif residual:
        yield f"<p>Outside of the surrogates the scan found these. {_LIMITS}</p>\n"
        yield from _counts(residual.items(), "looks like")
    else:
        yield f"<p>The scan found nothing outside of the surrogates. {_LIMITS}</p>\n"


def _bars(counts: Mapping[str, int], what: str) -> Iterator[str]:
    """Yield a table of counts with bars; the width of one is told in twentieths of the largest."""
    most = max(counts.values(), default=0) or 1
    heads = f'<th scope="col">{what}</th>{_NUMBER}<th scope="col" aria-hidden="true"></th>'
    rows = (f"{_named(name, count)}{_bar(round(20 * count / most))}" for name, count in _first(counts))
    yield from _table(what, heads, rows)
    yield "\n"


def _named(name: str, count: int) -> str:
    return f'<th scope="row"><bdi>{_text(name)}</bdi></th><td class="n">{count:,}</td>'


def _bar(width: int) -> str:
    return f'<td aria-hidden="true"><span class="bar w{width}"></span></td>'


def _counts(counts: Iterable[tuple[str, int]], what: str) -> Iterator[str]:
    rows = (f'<td><bdi>{_text(name)}</bdi></td><td class="n">{count:,}</td>' for name, count in counts)
    yield from _table(what, f'<th scope="col">{what}</th>{_NUMBER}', rows)
    yield "\n"


def _table(label: str, heads: str, rows: Iterable[str]) -> Iterator[str]:
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
    yield from (f"<tr>{row}</tr>\n" for row in rows)
    yield "</tbody></table></div>\n"


def _text(text: object) -> str:
    return visible(text).translate(_ESCAPED)


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
        return _BANDS[4 if rule["pattern"] == "span" else 3]
    return _BANDS[0 if sure >= _SURE else 1 if sure >= _LIKELY else 2]


def _first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(counts.items())[:_MOST_ROWS]


@cache
def _style() -> str:
    return (files(__package__ or "") / "templates" / "report.css").read_text(encoding="utf-8")
