"""Relatives: who bears one family name in the text bears one afterwards ("John Smith and his wife Mary Smith", "[U] [W]" and "[V] [W]")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from piiloom.pii_values.names.family_genders import borne_by
from piiloom.surrogates.known_names import has_title, name_parts
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.placeholders.surroundings import LETTER, family_letter
from piiloom.surrogates.planned_people import Cluster
from piiloom.surrogates.planning import Plan


def share_family_names(plan: Plan, people: Sequence[tuple[Persona, ...]], language: str = "") -> Mapping[str, Persona]:
    """Give all people of *plan* whose originals end in one family name, or whose letters do, that of the first of them.

    A name in the form of the other gender ("Nováková") is not shared. People of the whole corpus have one name everywhere, and keep it.
    Return the first bearer of each family name, by its last word or its letter.
    """
    first: dict[str, Persona] = {}
    for cluster, (person, *_) in zip(plan.clusters, people, strict=True):
        if cluster.size != 1 or cluster.corpus:
            continue
        family = _family_name(plan, cluster, language)
        known = first.setdefault(family, person) if family else person
        if known is not person and (known.gender == person.gender or borne_by(known.family, known.origin) is None):
            person.family = known.family
    return first


def _family_name(plan: Plan, cluster: Cluster, language: str) -> str:
    """Return the last word of the family name that the originals of *cluster* tell, folded, or its letter; "" if they tell none."""
    if cluster.key[0] == LETTER:
        return family_letter(cluster.key[1])
    for number in cluster.places:
        mention = plan.mentions[number]
        given, family = name_parts(mention.original, language)
        if family and len(family[-1]) > 1 and (given != family or mention.form == "family" or has_title(mention.original, language)):
            return family[-1]
    return ""
