"""Draw a value of a catalogue entry, with the check digits that its validator asks for, and of the sex and century of its holder."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.entity_values.people import GENDERS, NamedPerson, ascii_words, draw_adult_birth_date
from piiloom.pii_values.numbering.holders import Holder, Stream, rule_of
from piiloom.pii_values.numbering.masks import fill_mask
from piiloom.taxonomy.entities.catalogue_file import NO_VALIDATOR, UNIVERSAL, Entity
from piiloom.taxonomy.entities.validators.registry import Validator, find_validator

# Which of its digits is odd for a man and even for a woman.
_SEX_DIGITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "se_personnummer": -2,
        "se_samordningsnummer": -2,
        "fi_henkilotunnus": 8,
        "no_fodselsnummer": 8,
        "pl_pesel": 9,
        "cn_resident_id": 16,
        "cn_hmt_residence_permit": 16,
        "cn_disability_card": 16,
        "cn_student_registration": 16,
        "my_nric": -1,
    }
)
_SIGNS_OF_2000: Final = "ABCDEFabcdef"
_AFTER_DATE: Final = 6
_OF_CENTURY: Final = 3  # of a Vietnamese number: 0 for a man, 1 for a woman of the last century


def agrees(entity: str, value: str, person: NamedPerson) -> bool:
    """Whether *value* of *entity* could be *person*'s, who was born in the last century."""
    digits = [int(one) for one in value if one.isdigit()]
    if entity == "pl_pesel" and digits[2] > 1:  # months of this century are 21 to 32
        return False
    if entity == "fi_henkilotunnus" and value[_AFTER_DATE] in _SIGNS_OF_2000:
        return False
    if entity == "vn_cccd":
        return digits[_OF_CENTURY] == (person.gender == GENDERS[0])
    at = _SEX_DIGITS.get(entity)
    return at is None or (digits[at] % 2 == 0) == (person.gender == GENDERS[0])


_TRIES: Final = 20_000  # of a mask until the validator accepts it; two check digits of modulo 97 take 97 on average

_SPOILT_TRIES: Final = 200

_EntityDrawer = Callable[[str, random.Random], str]


def draw_entity_value(entity: Entity, locale: str, rng: random.Random, begins: str = "", person: NamedPerson | None = None) -> str:
    """Draw a value of *entity* as people write it in *locale*, of a mask that *begins* so, or by the rule for *person*.

    Raises ``ConfigError`` (file, line) if the entry has no generator, no such mask, or none of its values passes the validator.
    """
    accepts = _validator(entity, locale)
    for _ in range(_TRIES):
        value = _drawn(entity, locale, rng, begins, person)
        if (accepts is None or accepts(value)) and (person is None or agrees(entity.id, value, person)):
            return value
    raise ConfigError(f"the generator of {entity.id} gives nothing that {entity.validator} accepts", where=entity.where)


def spoilt_value(entity: Entity, locale: str, rng: random.Random) -> str:
    """Draw a value of *entity* and change it so that its validator refuses it: a digit, or if all digits are as good, its form.

    Raises ``ConfigError`` (file, line) if it has no validator, or one that refuses hardly anything.
    """
    accepts = _validator(entity, locale)
    if accepts is None:
        raise ConfigError(f"{entity.id} has no validator, so no value of it is faulty", where=entity.where)
    for attempt in range(_SPOILT_TRIES):
        changed = _changed(draw_entity_value(entity, locale, rng), rng, form=attempt >= _SPOILT_TRIES // 2)
        if not accepts(changed):
            return changed
    raise ConfigError(f"{entity.id} cannot be changed so that {entity.validator} refuses it", where=entity.where)


def _changed(value: str, rng: random.Random, *, form: bool) -> str:
    """*value* with another digit in place of one, or (*form*) with a letter there."""
    places = [at for at, character in enumerate(value) if character.isdigit()] or [rng.randrange(len(value))]
    at = rng.choice(places)
    others = "ABCDEFGHKLMNPRSTUVWXYZ" if form else [digit for digit in "0123456789" if digit != value[at]]
    return value[:at] + rng.choice(others) + value[at + 1 :]


@lru_cache(maxsize=4096)
def _validator(entity: Entity, locale: str) -> Validator | None:
    if entity.validator is None or not entity.patterns or any(pattern.validator == NO_VALIDATOR for pattern in entity.patterns):
        return None
    return find_validator(entity.validator, locale[3:] if entity.locale == UNIVERSAL else entity.locale[3:])


def _drawn(entity: Entity, locale: str, rng: random.Random, begins: str, person: NamedPerson | None) -> str:
    generator = entity.generator
    if generator is None:
        raise ConfigError(f"{entity.id} has no generator", where=entity.where, remedy="Give it masks, values, a rule or a drawer")
    if generator.masks or begins:
        masks = [mask for mask in generator.masks if mask.startswith(begins)]
        if not masks:
            raise ConfigError(f"{entity.id} has no mask that begins with {begins!r}", where=entity.where)
        return fill_mask(rng.choice(masks), rng, person.born if person is not None else None)
    if generator.values:
        return rng.choice(generator.values)
    if generator.rule is not None:
        return _rule(generator.rule, entity)(number_holder(rng, person))
    return _drawer(generator.draw or "", entity)(locale, rng)


def _rule(place: str, entity: Entity) -> Callable[[Holder], str]:
    try:
        return rule_of(place)
    except (ImportError, AttributeError):
        raise ConfigError(f"there is no rule {place!r}", where=entity.where, remedy="Name one of piiloom/pii_values/numbering") from None


def number_holder(rng: random.Random, person: NamedPerson | None) -> Holder:
    """Return *person*, or anybody, as the holder of a number."""
    if person is None:
        return Holder(Stream(rng), draw_adult_birth_date(rng), rng.random() < 0.5, "", "", REFERENCE_DATE)
    given, family = ascii_words(person.latin_given).upper(), ascii_words(person.latin_family).upper()
    return Holder(Stream(rng), person.born, person.gender == GENDERS[0], given, family, REFERENCE_DATE, person.locale[3:])


def _drawer(name: str, entity: Entity) -> _EntityDrawer:
    from piiloom.pii_values.entity_values.drawers import DRAWERS  # noqa: PLC0415 - reads the words of locales

    if name not in DRAWERS:
        raise ConfigError(f"there is no drawer {name!r}", where=entity.where, remedy=f"Known: {', '.join(sorted(DRAWERS))}")
    return DRAWERS[name]
