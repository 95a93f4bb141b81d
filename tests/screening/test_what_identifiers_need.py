"""A text without what each identifier needs is not looked through: no text of any of their patterns may be such a one."""

from __future__ import annotations

import random
from functools import cache

from piiloom.patterns.writing import fold_text
from piiloom.screening import identifiers
from piiloom.taxonomy.entities.catalogue_file import CharacterSet, Node, Repeat, TemplateChoice, TemplateSequence, parse_pattern
from piiloom.taxonomy.entities.entity_catalogue import entities_of_any_place

PROPERTIES = {"L": "é", "Lu": "É", "Ll": "é", "Han": "中"}


def needed(text: str) -> bool:
    """Whether *text* is looked through."""
    return (identifiers._NEEDED_ASCII if text.isascii() else identifiers._NEEDED).search(text) is not None


def drawn(node: Node, rng: random.Random) -> str:
    """A text that *node* matches."""
    match node:
        case CharacterSet():
            assert not node.negated
            return rng.choice([*sorted(node.characters), *(PROPERTIES[name] for name in node.properties)])
        case Repeat():
            most = node.fewest + 2 if node.most is None else min(node.most, node.fewest + 2)
            return "".join(drawn(node.node, rng) for _ in range(rng.randint(node.fewest, most)))
        case TemplateChoice():
            return drawn(rng.choice(node.options), rng)
        case TemplateSequence():
            return "".join(drawn(part, rng) for part in node.nodes)


@cache
def spellings() -> dict[str, list[str]]:
    """The code points that are folded to a sign or a digit, by that."""
    found: dict[str, list[str]] = {}
    every = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x20000)]))
    for point, folded in zip(every, fold_text(every).text, strict=True):
        if folded in "0123456789@.:/[](){}":
            found.setdefault(folded, []).append(point)
    return found


def test_every_text_of_every_pattern_is_looked_through() -> None:
    rng = random.Random(5)
    catalogue = entities_of_any_place(frozenset(identifiers._KINDS), "US")
    for entity in catalogue.entities.values():
        for pattern in entity.patterns:
            node = parse_pattern(pattern.pattern)
            for _ in range(12):
                text = drawn(node, rng)
                assert needed(text), (entity.id, text)
                other = "".join(rng.choice(spellings().get(c, [c])) if rng.random() < 0.5 else c for c in text)
                assert needed(f"é {other}"), (entity.id, other)


def test_plain_sentences_are_not_looked_through() -> None:
    assert not needed("He said that it was late. Then, (nobody knows why) they went: home; and so on!")
    assert not needed("Café «là». Straße – “gut”.")
    assert needed("Call 5 of them")
    assert needed("write to jo [at] mail")
