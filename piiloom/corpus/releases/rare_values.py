"""Which values tell texts apart so well that texts which share one belong together.

A value links if it is *identifying* and *rare*:

- codes (phone, e-mail, IBAN …) of at least five characters and names of two or more words, or of letters and digits (a user name),
  that occur in at most ten groups;
- values of the other open types of at least 20 characters ("Sunrise Hospice of Boulder") that occur in at most three groups.

A group here is what the other links have made (all texts of a story, of a persona …), and records of one text count once. First
names, towns, amounts and job titles are left out: by chance so many texts share one that half of a set would become one group
(docs/splits.md has the figures).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from piiloom.corpus.releases.links import Links
from piiloom.corpus.releases.members import Member

_SHORTEST_CODE = 5
_SHORTEST_USER_NAME = 6
_SHORTEST_OTHER = 20
_GROUPS_OF_IDENTIFIERS, _GROUPS_OF_OTHERS = 10, 3
# No value may make a group of more than this share of the records, unless other links have made one of half that size.
_LARGEST_SHARE = 0.05
_LARGEST_COUNT = 10
_DIGIT = re.compile(r"\d")


def link_rare_values(members: Sequence[Member], links: Links) -> int:
    """Link the *members* (positions in *links*) that share a rare value; return how many values were not used, as too many share them.

    The rarest values link first (ties: by type and text). A value that would make a group of more than 5% of the records (and more
    than ten of them, and more than twice the largest group that there was) is common after all, and does not link. So the order of
    *members* must not depend on chance.
    """
    rare = _rare_values(members, links)
    sizes: dict[int, int] = {}
    for root in links.roots().tolist():
        sizes[root] = sizes.get(root, 0) + 1
    limit = max(_LARGEST_COUNT, int(_LARGEST_SHARE * len(members)), 2 * max(sizes.values(), default=0))
    unused = 0
    for _, _, positions in rare:
        roots = sorted({links.root(position) for position in positions})
        if len(roots) < 2:  # rarer values have linked them all
            continue
        total = sum(sizes[root] for root in roots)
        if total > limit:
            unused += 1
            continue
        links.join_all(roots)
        sizes[roots[0]] = total
    return unused


def is_identifying(entity_type: str, text: str) -> bool:
    """Whether the value *text* of an open type tells people or texts apart, if it is rare."""
    if entity_type == "code":
        return len(text) >= _SHORTEST_CODE
    if entity_type == "name":
        return len(text.split()) > 1 or (len(text) >= _SHORTEST_USER_NAME and _DIGIT.search(text) is not None)
    return len(text) >= _SHORTEST_OTHER


def _rare_values(members: Sequence[Member], links: Links) -> list[tuple[int, tuple[str, str], list[int]]]:
    """Return (number of groups, value, positions of its records) of the rare values that more than one group has, the rarest first."""
    holders: dict[tuple[str, str], list[int]] = {}
    for position, member in enumerate(members):
        for value in member.values:
            if value.open and is_identifying(value.entity_type, member.text_of(value)):
                held = holders.setdefault(member.key_of(value), [])
                if not held or held[-1] != position:
                    held.append(position)
    group = links.roots().tolist()
    first_of_text: dict[str, int] = {}
    for position, member in enumerate(members):
        group[position] = group[first_of_text.setdefault(member.context, position)]
    found = []
    for key, positions in holders.items():
        groups = len({group[position] for position in positions})
        if 1 < groups <= (_GROUPS_OF_IDENTIFIERS if key[0] in {"code", "name"} else _GROUPS_OF_OTHERS):
            found.append((groups, key, positions))
    return sorted(found)
