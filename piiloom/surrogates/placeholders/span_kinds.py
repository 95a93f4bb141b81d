"""Map a span's entity type to a kind of value, for texts that come with annotated spans instead of placeholders."""

from __future__ import annotations

from functools import cache

from piiloom.surrogates.kinds.registry import KINDS, PREFIX, has_own_values
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import shipped_taxonomy

# The kind for a type whose subtype is missing or belongs to no kind.
_BY_TYPE = {
    "name": "person",
    "code": "id_number",
    "datetime": "date",
    "location": "location",
    "organization": "organisation",
    "education": "school",
    "health": "condition",
    "finance": "money",
    "demographic": "nationality",
    "belief": "religion",
    "occupation": "occupation",
    "relationship": "kin",
    "sexual orientation": "orientation",
    "age": "age",
    "appearance": "appearance",
}
# Entities of the catalogue whose values agree with the person's other facts, or that have a kind of their own.
_BY_ENTITY = {
    "person_name": "person",
    "given_name": "person",
    "family_name": "person",
    "ipv4": "ip_address",
    "ipv6": "ip_address",
    "date_of_birth": "birth_date",
    "employer": "organisation",
    "vin": "vehicle_id",
    **{name: name for name in "username email phone url password age city occupation condition payment_card address school".split()},
}


def _of_entity(subtype: str) -> str | None:
    """The kind for an entity of the catalogue, which is what detectors give as subtype."""
    if subtype in _BY_ENTITY:
        return _BY_ENTITY[subtype]
    entity = find_shipped(subtype)
    if entity is not None and entity.form_of in _BY_ENTITY:
        return _BY_ENTITY[entity.form_of]
    return f"{PREFIX}{entity.id}" if entity is not None and has_own_values(entity) else None


@cache
def kind_of_span(entity_type: str, subtype: str | None) -> str:
    """Return the kind for a type and subtype of our taxonomy; cached.

    The subtype may be an entity of the catalogue, as detectors give it. A type that is not in the taxonomy is read as a label of another
    corpus ("DOCTOR", "GPE"). If that fails, too, the result is "generic".
    """
    types = shipped_taxonomy()
    ours = entity_type if entity_type in types.types else None
    if ours and subtype:
        for kind in KINDS.values():
            if (kind.entity_type, kind.subtype) == (ours, subtype):
                return kind.name
    if ours:
        return (_of_entity(subtype) if subtype else None) or _BY_TYPE.get(ours, "generic")
    meaning = Reader(vocabulary(("en",))).read(entity_type)
    if meaning is not None:
        return meaning.kind
    return _BY_TYPE.get(types.resolve(entity_type) or "", "generic")
