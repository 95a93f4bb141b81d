"""Map a span's entity type to a kind of value, for texts that come with annotated spans instead of placeholders."""

from __future__ import annotations

from functools import cache

from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from piiloom.taxonomy.entity_types import load_taxonomy

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


@cache
def kind_of_span(entity_type: str, subtype: str | None) -> str:
    """Return the kind for a type and subtype of our taxonomy; cached.

    A type that is not in the taxonomy is read as a label of another corpus ("DOCTOR", "GPE"). If that fails, too, the result is "generic".
    """
    types = load_taxonomy()
    ours = entity_type if entity_type in types.types else None
    if ours and subtype:
        for kind in KINDS.values():
            if (kind.entity_type, kind.subtype) == (ours, subtype):
                return kind.name
    if ours:
        return _BY_TYPE.get(ours, "generic")
    meaning = Reader(vocabulary(("en",))).read(entity_type)
    if meaning is not None:
        return meaning.kind
    return _BY_TYPE.get(types.resolve(entity_type) or "", "generic")
