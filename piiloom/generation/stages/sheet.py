"""Stage of the recipe ``case``: one life in which the values of a text belong together, and what its writer would ask.

In: an item with more values than its text is to have (``planning.make_case_item``), of which nobody knows yet whether they matter. Out:
those that belong to one life, each as its writer would say it ("from Benin" for "first-generation Beninese immigrant"), whose it is and
what it is doing there, a situation, and two decisions, which the writer would ask about. The others are struck, each with the reason.
What is personal and the matter cannot do without (the illness that a medication is for, the tie to whom it is about) becomes a value,
too, before anybody asks what matters. Asked for once a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from piiloom.generation.item import Case, Item, ItemValue
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask
from piiloom.generation.stages.texts import check_kind, check_no_meta, value_variables
from piiloom.generation.stages.values import fit_value
from piiloom.taxonomy.text_shapes import Shape

NAME = "sheet"
FEWEST_VALUES = 3
SPARE = 2.5  # number of values drawn per kept value
DECISIONS = 2
_OF_PAIR = 2  # fewest drawn values that a text keeps: one of each type of its pair
CARRIED = (1, 3)  # fewest and most identifiers of a text whose voice carries them
MOST_MORE = 3  # most values that the model may add to the drawn ones
_VERBATIM = frozenset({"name", "code"})
_MONTHS = frozenset(range(1, 13))
_CLOCK = re.compile(r"\d:\d")
_FIGURE = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "holder": {"type": "string"},
                    "said": {"type": "string"},
                    "use": {"type": "string"},
                    "strike": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["id", "strike", "holder", "said", "use"],
                "additionalProperties": False,
            },
        },
        "situation": {"type": "string"},
        "more": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("id", "kind", "holder", "said", "use")},
                "required": ["id", "kind", "holder", "said", "use"],
                "additionalProperties": False,
            },
        },
        "decisions": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["facts", "situation", "more", "decisions"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    values: tuple[ItemValue, ...]
    case: Case


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its case and without the struck values."""
    if not item.plan.wanted:
        return item  # a text without personal data, which the stage post writes
    if not item.values:
        raise ItemRejected("out_of_order", "the item has no values yet", stage=NAME)
    sheet, refused = await ctx.shared.once(f"{NAME} {item.plan.text_name}", lambda: _asked(item, ctx), among=item.plan.records)
    return replace(item, values=sheet.values, case=sheet.case, refused=item.refused + refused)


async def _asked(item: Item, ctx: StageContext) -> tuple[_Sheet, int]:
    plan, shape = item.plan, text_shape_of(item)
    others = len(item.values) - len(shape.carried)
    question = PromptRequest(
        stage=NAME,
        template="case_sheet",
        variables={
            "topic": plan.topic,
            "subtopic": plan.subtopic,
            "pair": list(plan.pair),
            "register": plan.register,
            "shape": asdict(shape),
            "values": [
                {**_with_need(known, item, ctx), "carried": known["id"] in shape.carried} for known in value_variables(item.values, ctx)
            ],
            "kinds": [name for name in ctx.taxonomy.types if ctx.config.narrowing.allows(name)],
            "free": free_ids(item),
            "keep": dict(zip(("fewest", "most"), kept_of(others), strict=True)),
            "carry": dict(zip(("fewest", "most"), carried_of(shape), strict=True)),
            "language": ctx.locale.language_name,
            "seed": plan.seed,
        },
        schema=SCHEMA,
        item_id=plan.text_name,
    )
    return await ask(question, ctx, lambda data: _read(data, item, ctx))


def text_shape_of(item: Item) -> Shape:
    """Return the shape that the plan drew for the text of *item*."""
    if item.plan.shape is None:
        raise ItemRejected("out_of_order", "the item is not planned for the recipe case", stage=NAME)
    return item.plan.shape


def kept_of(values: int) -> tuple[int, int]:
    """Return the (fewest, most) values to keep of *values* drawn ones; 1 / ``SPARE`` of them are needed."""
    most = max(FEWEST_VALUES, round(values / SPARE))
    return min(values, max(_OF_PAIR, round(most * 0.4))), min(values, most)


def carried_of(shape: Shape) -> tuple[int, int]:
    """Return the (fewest, most) identifiers that a text of *shape* keeps of those it is offered."""
    return min(CARRIED[0], len(shape.carried)), min(CARRIED[1], len(shape.carried))


def _read(data: Any, item: Item, ctx: StageContext) -> _Sheet:
    facts = by_id(data["facts"], item.values)
    struck = {name: fact["strike"].strip() for name, fact in facts.items() if (fact["strike"] or "").strip()}
    kept = [value for value in item.values if value.id not in struck]
    carried = text_shape_of(item).carried
    others = [value for value in kept if value.id not in carried]
    _check_count(len(others), kept_of(len(item.values) - len(carried)), "without a star" if carried else "")
    _check_count(len(kept) - len(others), carried_of(text_shape_of(item)), "with a star")
    missing = [kind for kind in item.plan.pair if kind not in {value.entity_type for value in others}]
    if missing:
        raise Fault("pair_struck", f"no fact of the kind {missing[0]} is left; the matter is about both kinds of the pair")
    of_kind = _of_kind(item.values, ctx)
    if of_kind and of_kind <= struck.keys():
        raise Fault("kind_struck", f"one of {', '.join(sorted(of_kind))} must be left")
    uses = {name: " ".join(fact["use"].split()) for name, fact in facts.items() if name not in struck}
    holders = {name: " ".join(facts[name]["holder"].split()).casefold() for name in uses}
    if not all(uses.values()) or not all(holders.values()):
        raise Fault("no_use", "each fact that is left needs a holder and a use")
    situation = " ".join(data["situation"].split())
    check_no_meta(situation)
    if not situation:
        raise Fault("no_situation", "there is no situation")
    said = _said(kept, facts, carried, inflects=ctx.locale.inflects)
    values = [replace(value, text=said[value.id], subject=holders[value.id]) for value in kept]
    for value, use in _more(data["more"], values, item, ctx):
        values.append(value)
        uses[value.id] = use
    return _Sheet(
        values=tuple(values),
        case=Case(situation=situation, decisions=_decisions(data["decisions"]), uses=uses, struck=struck),
    )


def _check_count(left: int, band: tuple[int, int], of_kind: str) -> None:
    """Raise ``Fault`` unless from the first to the second of *band* facts are left."""
    facts = f"{left} facts {of_kind}".strip()
    if left < band[0]:
        raise Fault("too_much_struck", f"{facts} are left; {band[0]} to {band[1]} must be")
    if left > band[1]:
        raise Fault("too_little_struck", f"{facts} are left; strike those that fit least, so that {band[0]} to {band[1]} are")


def _of_kind(values: Sequence[ItemValue], ctx: StageContext) -> set[str]:
    """Return the ids of the values of a kind of which each text holds one."""
    return {value.id for value in values if value.subtype in ctx.config.narrowing.kinds}


def _with_need(known: Mapping[str, Any], item: Item, ctx: StageContext) -> Mapping[str, Any]:
    needed = known["id"] in _of_kind(item.values, ctx)
    return {**known, "type": f"{known['type']}; one of this sort must be left"} if needed else known


def free_ids(item: Item) -> tuple[str, ...]:
    """Return the ids for the values that the model may add to those drawn for *item*."""
    drawn = len(item.plan.wanted)
    return tuple(f"v{drawn + number}" for number in range(1, MOST_MORE + 1))


def _more(entries: Sequence[Mapping[str, str]], kept: Sequence[ItemValue], item: Item, ctx: StageContext) -> list[tuple[ItemValue, str]]:
    """Read the values that the model adds to the *kept* ones; returns (value, use) pairs. Raises ``Fault`` for an invalid one."""
    free = free_ids(item)
    if [entry["id"] for entry in entries] != list(free[: len(entries)]):
        raise Fault("more_ids", f"the ids under more are {', '.join(free)}, in this order, and no others")
    taken = [value.text for value in kept]
    found: list[tuple[ItemValue, str]] = []
    for entry in entries:
        holder, use = " ".join(entry["holder"].split()).casefold(), " ".join(entry["use"].split())
        check_kind(entry["kind"], ctx)
        if not ctx.config.narrowing.allows(entry["kind"]):
            raise Fault("other_kind", f"no fact may be of the kind {entry['kind']}")
        if not holder or not use:
            raise Fault("no_use", "each fact under more needs a holder and a use")
        text = fit_value(entry["said"], taken, inflects=ctx.locale.inflects)
        taken.append(text)
        found.append((ItemValue(id=entry["id"], entity_type=entry["kind"], subtype=None, text=text, relevance="low", subject=holder), use))
    return found


def _said(kept: Sequence[ItemValue], facts: Mapping[str, Mapping[str, Any]], carried: Collection[str], *, inflects: bool) -> dict[str, str]:
    """Return the wording of each kept value, by id; an empty ``said`` keeps the drawn text.

    Raises ``Fault`` if a name, code, identifier of *carried* or figure is changed, or if the wording is no valid value.
    """
    said = {value.id: " ".join(facts[value.id]["said"].split()) or value.text for value in kept}
    for value in kept:
        text = said[value.id]
        if text == value.text:
            continue
        if value.entity_type in _VERBATIM or value.id in carried or adds_figures(text, value):
            raise Fault("figures_changed", f"{value.id} must be said as it is given: names and codes stay, and no number is added")
        fit_value(text, [other for name, other in said.items() if name != value.id], inflects=inflects)
    return said


def adds_figures(text: str, value: ItemValue) -> bool:
    """Whether *text* has a number that *value* lacks.

    Dates, times and sums may be written otherwise: "03" and "3" are the same, and so are "2,500" and "2500", "15:05" and "3:05 pm". A date
    in words may be one in figures only, with its day and one number more, the month.
    """
    given, found = _figures(value.text), _figures(text)
    added = found - given
    if value.entity_type != "datetime":
        return bool(added)
    if _CLOCK.search(value.text):
        added -= {(hour - 12) % 24 for hour in given}
    in_figures = any(map(str.isalpha, value.text)) and not any(map(str.isalpha, text))
    is_month = in_figures and len(added) == 1 and added <= _MONTHS and bool(found & given)
    return bool(added) and not is_month


def _figures(text: str) -> set[int]:
    return set(map(int, _FIGURE.findall(_GROUPED.sub("", text))))


def by_id(entries: Sequence[Mapping[str, Any]], values: Sequence[ItemValue]) -> dict[str, Mapping[str, Any]]:
    """Return *entries* by value id; raises ``Fault`` unless there is exactly one for each of *values*."""
    known = [value.id for value in values]
    found: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        name = entry["id"]
        if name not in known:
            raise Fault("unknown_id", f"{name} is not in the list; the ids are {', '.join(known)}")
        if name in found:
            raise Fault("twice", f"{name} has more than one entry; each id has exactly one")
        found[name] = entry
    missing = [name for name in known if name not in found]
    if missing:
        raise Fault("incomplete", f"there is no entry for {', '.join(missing)}; each of {', '.join(known)} has exactly one")
    return found


def _decisions(entries: Sequence[str]) -> tuple[str, ...]:
    found = tuple(filter(None, (" ".join(entry.split()) for entry in entries)))
    if len({*found}) != DECISIONS:
        raise Fault("decisions", f"there are {len({*found})} different decisions; {DECISIONS} are wanted")
    return found


STAGE = Stage(name=NAME, templates=("case_sheet",), run=run)
