"""Coverage of the entity catalogue for its 13 locales beside python-stdnum, presidio-analyzer and Faker.

    python -m benchmarks.catalogue_coverage --make-peers     # once: an environment for presidio-analyzer
    python -m benchmarks.catalogue_coverage [--locale pl_PL …]

What each has of a country: python-stdnum's modules, and which entries check with them; presidio-analyzer's recognizers, and of which
entries each takes most of forty drawn values for its own; what the providers of Faker's locales draw that identifies somebody, and whether
the engine finds 200 such values, alone and behind a label; and the entries of the locale. The universal entries, which every locale has as
well, are counted once. Figures: benchmarks/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.catalogue.faker_methods import Method, faker_locales, methods
from benchmarks.catalogue.presidio_recognizers import Known, known_to_presidio
from benchmarks.catalogue.samples import ours
from benchmarks.catalogue.stdnum_modules import ELSEWHERE, Module, modules
from benchmarks.peers.contestants import contestants_of
from benchmarks.peers.harness import Report, arguments, prepared
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import LOCALES

_HEADS = (
    "locale",
    "stdnum: modules (checked with)",
    "Presidio: recognizers (ours has)",
    "knows its",
    "Faker: methods (found)",
    "ours",
    "with a check (own)",
    "form only",
    "label only",
    "no form",
    "unconfirmed",
)

_PEERS = Path(__file__).parent / "catalogue" / "peers"  # no contestant of ours: what it has is compared, not what it does


def row(locale: str, theirs: Sequence[Module], known: Known | None, drawn: Sequence[Method]) -> list[str]:
    """A line of the table. A method of Faker counts as found if no value that passes our checks is missed behind a label."""
    counts = ours(locale)
    presidio = ["", ""]
    if known is not None:
        generic = [name for name, there in (("phone", known.phone), ("IBAN", known.iban)) if there]
        presidio = [f"{len(known.recognizers)} ({sum(bool(one.taken) for one in known.recognizers)})", ", ".join(generic)]
    return [
        locale,
        f"{len(theirs)} ({sum(bool(one.used_by) for one in theirs)})",
        *presidio,
        f"{len(drawn)} ({sum(not one.refused and one.labeled > 0 for one in drawn)})",
        str(counts["types"]),
        f"{counts['validated']} ({counts['own_checksum']})",
        *(str(counts[one]) for one in ("only_form", "label_led", "without_pattern", "unconfirmed")),
    ]


def print_matches(locale: str, theirs: Sequence[Module], known: Known | None, drawn: Sequence[Method]) -> None:
    """Tell what stands for what, and which values of Faker are not found."""
    print(f"\n{locale}")
    for module in theirs:
        instead = ", ".join(module.accepts) or ELSEWHERE.get(module.name, "NOTHING")
        print(f"  stdnum {module.name}: {', '.join(module.used_by) or f'no entry checks with it; it is {instead}'}")
    for one in known.recognizers if known else ():
        taken = ", ".join(f"{entity} {share:.0%}" for entity, share in one.taken.items()) or "NOTHING"
        print(f"  Presidio {one.entity} ({one.language}, {'checked' if one.checked else 'form only'}): {taken}")
    if not drawn:
        print("  Faker has no locale of the country")
    for method in drawn:
        valid = "no check" if method.valid is None else f"{method.valid:.0%} valid"
        refused = f"; not found: {', '.join(map(repr, method.refused))}" if method.refused else ""
        shares = f"{valid}, found {method.alone:.0%} alone, {method.labeled:.0%} behind a label"
        print(f"  Faker {method.locale}.{method.name} → {', '.join(method.meant) or 'no entry'}: {shares}{refused}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--locale", action="append", help="only this one; may be repeated")
    given = parser.parse_args()
    contestants, versions = prepared("catalogue_coverage", contestants_of(str(_PEERS)), given)
    locales = given.locale or LOCALES
    told = known_to_presidio(contestants[0], given.peers, locales) if contestants else {}
    versions |= {name: f"{name} {version(name)}" for name in ("python-stdnum", "Faker", "phonenumbers")}
    report = Report(benchmark="catalogue_coverage", versions=versions, settings={"locales": locales})
    lines = []
    for locale in locales:
        theirs, known, drawn = modules(locale), told.get(locale), methods(locale)
        print_matches(locale, theirs, known, drawn)
        lines.append(row(locale, theirs, known, drawn))
        report.results[locale] = {
            "ours": ours(locale),
            "stdnum": {one.name: asdict(one) for one in theirs},
            "presidio": asdict(known) if known else {},
            "faker": {f"{one.locale}.{one.name}": asdict(one) for one in drawn} | {"locales": faker_locales(locale)},
        }
    print(f"\n{', '.join(versions.values())}\n")
    for line in (_HEADS, ["---"] * len(_HEADS), *lines):
        print(f"| {' | '.join(line)} |")
    print(f"\nuniversal entries: {ours(UNIVERSAL)}")
    if given.out:
        given.out.write_text(json.dumps(vars(report), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
