"""Which kind of value a span's entity type asks for, where texts come with spans instead of placeholders."""

from __future__ import annotations

from functools import cache

from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from piiloom.taxonomy.entity_types import load_taxonomy

# What a type is put as when its subtype is not told, or is one that no kind has.
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
    """The kind for a type and subtype of our taxonomy, else for a label as other corpora write it ("DOCTOR", "GPE"), else generic."""
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
