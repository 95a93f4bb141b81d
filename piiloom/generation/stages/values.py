"""Stage 3: the values an item is about.

In: a plan item. Out: one value for each that the plan wants, of one coherent persona, none inside another. Drawn by code
(``pii_values``); with ``--values llm`` the model is asked for each, else only for those of own types that say so.

For a locale without word lists of ours, code draws what ``pii_values.any_locale`` gives, and the model is asked for all other values.

With ``--values llm`` and the recipe "staged", each value is asked for when the text needs it: here those of the situation, given topic
and subtopic; those of an aside in the stage ``peripheral``, given the text so far.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from piiloom.corpus.mention_search import exact_mentions
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import content_words, count_words
from piiloom.generation.item import Item, ItemValue, PlanItem, WantedValue
from piiloom.generation.settings.configuration import ComposerSettings
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Stage, StageContext, ask, text_schema
from piiloom.pii_values.any_locale import Draw, cldr_amount, draw_resident, drawers_of, entity_drawer
from piiloom.pii_values.drawing import SOMEONE_ELSE, DrawnValue, ValueRequest, draw_values
from piiloom.pii_values.entity_values.people import NamedPerson
from piiloom.pii_values.kinds import draw_own
from piiloom.pii_values.persona import draw_persona
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import EntityType, Subtype, Taxonomy
from piiloom.taxonomy.locales import get_locale

NAME = "values"
IN_TEXT = "value_in_text"  # the template for a value that fits the post so far
_NEVER_ASKED = frozenset({"name", "code"})  # of a model, if code has any of the type
_TRIES, _OWN_TRIES = 40, 8
_AN_AMOUNT = 1234.5
# Letters of a word that two values may not share, by whether the language inflects and its function words are not known.
_SHORTEST = {False: 3, True: 6}
_DIGIT = re.compile(r"\d")
FORBIDDEN = frozenset('[]{}|<>\n\r\t"“”')


async def run(item: Item, ctx: StageContext) -> Item:
    """Return the item with its values, once a text; raises ``ItemRejected`` if no distinct values can be found."""
    bare, plan = replace_values(item, ()), item.plan
    values, refused = await ctx.shared.once(f"{NAME} {plan.text_name}", lambda: _found(bare, ctx), among=plan.records)
    return replace_values(item, values, refused=item.refused + refused)


async def _found(item: Item, ctx: StageContext) -> tuple[tuple[ItemValue, ...], int]:
    """Return the values of *item*, which has none, and the number of refused replies."""
    wanted, before = item.plan.wanted, item.refused
    if ctx.config.fits_values_to_text:
        persons = {value.subject for value in wanted if value.relevance == "high"}
        wanted = tuple(value for value in wanted if value.relevance == "high" or f"@{value.id}" in persons)
    elif ctx.config.values == "code":
        drawn = [value for value in wanted if not _is_asked(value, ctx.taxonomy)]
        if drawn and ctx.locale.listed:
            item = replace_values(item, draw_by_code(item, ctx.config.composer, drawn, ctx.taxonomy))
        elif drawn:
            item = replace_values(item, draw_in_any_locale(item, drawn, ctx.taxonomy))
    item = await with_values(item, wanted, ctx)
    return item.values, item.refused - before


async def with_values(item: Item, wanted: Iterable[WantedValue], ctx: StageContext, text: str = "") -> Item:
    """Return *item* with those of *wanted* that it lacks, asked of the model given *text*, the post so far ("": topic and subtopic)."""
    values, refused = list(item.values), item.refused
    missing = [value for value in wanted if value.id not in {known.id for known in values}]
    if not missing:
        return item
    # Values about a person named by another value come last, since they need that value's text.
    for one in sorted(missing, key=lambda value: value.subject.startswith("@")):
        value, again = await _ask(one, values, item, ctx, text)
        values.append(value)
        refused += again
    place = {value.id: number for number, value in enumerate(item.plan.wanted)}
    return replace(item, values=tuple(sorted(values, key=lambda value: place[value.id])), refused=refused)


def _described(kind: EntityType, name: str) -> Subtype:
    """Return the subtype *name* of *kind*; a catalogue entity is one with the entity's name as definition."""
    found = next((one for one in kind.subtypes if one.name == name), None)
    if found is not None or (entity := find_shipped(name)) is None:
        return found or kind.subtypes[0]
    return replace(kind.subtypes[0], name=name, definition=entity.name, examples=(entity.name,))


async def _ask(wanted: WantedValue, taken: list[ItemValue], item: Item, ctx: StageContext, text: str) -> tuple[ItemValue, int]:
    plan = item.plan
    kind = ctx.taxonomy.get(wanted.entity_type)
    subtype = _described(kind, _subtype(wanted, plan, ctx.taxonomy))
    avoid = [value.text for value in taken]
    question = PromptRequest(
        stage=NAME,
        template=IN_TEXT if text else "pii_value",
        variables={
            "type": {"name": kind.name},
            "subtype": {"name": subtype.name, "definition": subtype.definition, "examples": list(subtype.examples)},
            "country": _country(kind.name, ctx),
            "language": ctx.locale.language_name,
            "topic": plan.topic if text or wanted.relevance == "high" else None,
            "subtopic": plan.subtopic,
            "avoid": avoid,
            "locale": plan.locale,
            "value_id": wanted.id,
            "subject": drawn_subject(wanted, taken),
            "seed": plan.seed,
            **({"text": text} if text else {}),
        },
        schema=text_schema("value"),
        item_id=f"{plan.text_name}/{wanted.id}",
    )
    value, refused = await ask(question, ctx, lambda data: fit_value(data["value"], avoid, text, inflects=ctx.locale.inflects))
    return (
        ItemValue(
            id=wanted.id,
            entity_type=kind.name,
            subtype=subtype.name,
            text=value,
            relevance=wanted.relevance,
            subject=drawn_subject(wanted, taken),
        ),
        refused,
    )


def _subtype(wanted: WantedValue, plan: PlanItem, taxonomy: Taxonomy) -> str:
    names = wanted.subtypes or tuple(subtype.name for subtype in taxonomy.get(wanted.entity_type).subtypes)
    return derive_rng("subtype", plan.seed, wanted.id).choice(names)


def _country(entity_type: str, ctx: StageContext) -> str:
    """Return the country as the model is told it, in a locale without word lists with a note on the examples, which are English."""
    here = ctx.locale
    if here.listed:
        return here.country
    money = f"; amounts are in {here.currency}, as in {cldr_amount(_AN_AMOUNT, here.code)}" if entity_type == "finance" else ""
    return f"{here.country} (the examples above are from other countries, in English{money})"


def drawn_subject(wanted: WantedValue, taken: Sequence[ItemValue]) -> str:
    """Return the person the value belongs to; "@v3" is replaced by the text of value v3, if it is in *taken*."""
    return next((v.text for v in taken if f"@{v.id}" == wanted.subject), wanted.subject)


def replace_values(item: Item, values: tuple[ItemValue, ...], *, refused: int | None = None) -> Item:
    """Return *item* with *values* and without the results of later stages; *refused* replaces its count, if given."""
    return Item(plan=item.plan, values=values, refused=item.refused if refused is None else refused)


def _is_asked(wanted: WantedValue, taxonomy: Taxonomy) -> bool:
    """Whether the value is of a user-defined type or subtype whose values come from the model only."""
    kind = taxonomy.get(wanted.entity_type)
    chosen = [subtype for subtype in kind.subtypes if not wanted.subtypes or subtype.name in wanted.subtypes]
    return any(subtype.generator is not None and subtype.generator.kind == "model" for subtype in chosen)


def draw_by_code(item: Item, composer: ComposerSettings, drawn: Sequence[WantedValue], taxonomy: Taxonomy) -> tuple[ItemValue, ...]:
    """Draw values for *drawn*, all from one persona; raises ``ItemRejected`` if the persona has no distinct ones."""
    plan = item.plan
    rng = derive_rng("values", plan.seed % composer.value_draws if composer.value_draws else plan.seed)
    place = {wanted.id: number for number, wanted in enumerate(drawn)}
    requests = [ValueRequest(entity_type=w.entity_type, subtypes=w.subtypes or None, subject=_owner(w, place)) for w in drawn]
    try:
        found = _drawn(requests, plan.locale, composer, rng, taxonomy)
    except PiiloomError as error:
        raise ItemRejected("no_values", str(error), stage=NAME) from error
    return tuple(
        ItemValue(id=w.id, entity_type=d.entity_type, subtype=d.subtype, text=d.text, relevance=w.relevance, subject=d.subject)
        for w, d in zip(drawn, found, strict=True)
    )


def draw_in_any_locale(item: Item, drawn: Sequence[WantedValue], taxonomy: Taxonomy) -> tuple[ItemValue, ...]:
    """Draw those of *drawn* that ``any_locale`` has, each person's values of one resident.

    A name or code that it lacks becomes another kind of its type. Raises ``ItemRejected`` if no value differs from the others.
    """
    plan, found = item.plan, list[ItemValue]()
    people: dict[str, NamedPerson] = {}
    for wanted in drawn:
        draw = _drawer(wanted, plan, taxonomy)
        if draw is None:
            continue
        subtype, write = draw
        rng, subject = derive_rng("values", plan.seed, wanted.id), drawn_subject(wanted, found)
        for attempt in range(_TRIES):
            if attempt >= _OWN_TRIES:  # a second name or age cannot be of the same person
                subject = SOMEONE_ELSE
            person = draw_resident(plan.locale, rng) if subject == SOMEONE_ELSE else None
            owner = person or people.setdefault(subject, draw_resident(plan.locale, derive_rng("resident", plan.seed, subject)))
            taken, is_code = [value.text for value in found], wanted.entity_type == "code"
            try:  # codes may share words: all addresses are at example domains
                text = fit_value(write(owner, rng), [] if is_code else taken, inflects=get_locale(plan.locale).inflects)
            except Fault:
                continue
            if not is_code or not any(text in other or other in text for other in taken):
                break
        else:
            raise ItemRejected("no_values", f"no value of {wanted.entity_type}.{subtype} differs from the others", stage=NAME)
        kind, relevance = wanted.entity_type, wanted.relevance
        found.append(ItemValue(id=wanted.id, entity_type=kind, subtype=subtype, text=text, relevance=relevance, subject=subject))
    return tuple(found)


def _drawer(wanted: WantedValue, plan: PlanItem, taxonomy: Taxonomy) -> tuple[str, Draw] | None:
    """Return the subtype and the function by which code draws a value in a locale without word lists; None if the model is asked."""
    subtype = _subtype(wanted, plan, taxonomy)
    if taxonomy.get(wanted.entity_type).own:
        generator = taxonomy.subtype(wanted.entity_type, subtype).generator
        return None if generator is None else (subtype, lambda person, rng: draw_own(generator, person.locale, rng))
    known = drawers_of(plan.locale).get(wanted.entity_type, {})
    if subtype not in known and (entity_draw := entity_drawer(subtype, get_locale(plan.locale).language)) is not None:
        return subtype, entity_draw
    if known and subtype not in known and wanted.entity_type in _NEVER_ASKED:
        subtype = derive_rng("subtype", plan.seed, wanted.id, "instead").choice(list(known))
    return (subtype, known[subtype]) if subtype in known else None


def _owner(wanted: WantedValue, place: Mapping[str, int]) -> str:
    """Return the subject in the form that ``draw_values`` takes: "@1" for the person that the request at position 1 (from 0) names."""
    return f"@{place[wanted.subject[1:]]}" if wanted.subject.startswith("@") else wanted.subject


def _drawn(
    requests: Sequence[ValueRequest], locale: str, composer: ComposerSettings, rng: random.Random, taxonomy: Taxonomy
) -> tuple[DrawnValue, ...]:
    if composer.personas:
        return draw_values(draw_persona(rng, locale), requests, rng, taxonomy)
    alone = [replace(request, subject="self" if (request.subject or "").startswith("@") else request.subject) for request in requests]
    return tuple(draw_values(draw_persona(rng, locale), [request], rng, taxonomy)[0] for request in alone)


def fit_value(value: str, avoid: list[str], text: str = "", *, inflects: bool) -> str:
    """Return *value* with single spaces.

    Raises ``Fault`` if it is malformed, shares a content word with one of *avoid* or has the other in it, or occurs in *text*, the post so
    far. Numbers and words of one or two letters may be shared; in a language that *inflects*, of which no function words are known, words
    of up to five letters.
    """
    fit = " ".join(value.split())
    if len(fit) == 1 and not fit.isascii():
        raise Fault("unfit_value", "a value of a single character would be found in other words")
    if FORBIDDEN & set(fit) or not 1 <= count_words(fit) <= 8:
        raise Fault("unfit_value", "a value has one to eight words on one line, without brackets, braces or double quotes")
    for other in avoid:
        both = content_words(fit) & content_words(other)
        if shared := [word for word in both if len(word) >= _SHORTEST[inflects] and not _DIGIT.search(word)]:
            raise Fault("repeated_value", f'it shares the word "{min(shared)}" with a value that is already taken')
        one, two = sorted((fit.casefold(), other.casefold()), key=len)
        if exact_mentions(two, one):
            raise Fault("repeated_value", f'one of it and "{other}", which is taken already, holds the other')
    if exact_mentions(text.casefold(), fit.casefold()):
        raise Fault("repeated_value", "it occurs in the post already")
    return fit


STAGE = Stage(name=NAME, templates=("pii_value",), run=run)
