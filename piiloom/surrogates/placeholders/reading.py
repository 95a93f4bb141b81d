"""Reading a tag: its words, kind and number, the verdict on a candidate, and links between tags of one person.

A link is ``--link "[de man]=[appellant]"``. The type of a span that came with a text is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Literal, NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Same
from piiloom.surrogates.kinds.kind import KINDS, PREFIX, WITHIN, has_own_values
from piiloom.surrogates.placeholders.grammar import has_tokens, pattern_of
from piiloom.surrogates.placeholders.mapping import Context, Mapping, TagRule
from piiloom.surrogates.placeholders.vocabulary import Vocabulary, Word, fold_tag, vocabulary
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import shipped_taxonomy

_WEAK: Final = frozenset({"number", "id_number"})  # kinds that another word overrides: "phone number", "student id"
_NAMELESS: Final = frozenset("payment_card bank_account case_number device_id id_number policy_number".split())
_ORGANISED: Final = frozenset(
    "organisation company employer department charity club authority product band resort school language_school university hospital "
    "bank".split()
)
_DOUBT: Final = 0.65
_SHORT: Final = 3
_SAID: Final = frozenset({"role", "name", "value"})
_OF_SERVICES: Final = {"service": {"bank_account"}, "value": {"bank_account", "address", "location"}}  # are a username: "SKYPE ADDRESS"
# What an account is that is not at a bank, by the kind of what it is of.
_ACCOUNTS: Final = {"email": "email", **dict.fromkeys(("username", "phone", "url", "product", "school", "university"), "username")}
_PLACES: Final = frozenset(
    "city region country location street landmark organisation company employer school university hospital bank charity club".split()
)


class Meaning(NamedTuple):
    """What a tag says about the value that it replaces; fields as in ``Mention`` and ``mapping.Rule``.

    ``sure`` is the confidence (0 to 1). ``context`` is "mention" or "document" if the surrounding text decides the kind. ``number`` is
    a second index: the house number of "a-straat 1". ``language`` is that of its words if it is none of the reader's home languages,
    ``runner_up`` the kind that another language reads there, as in "number (fr)".
    """

    kind: str
    role: str = ""
    index: str = ""  # type: ignore[assignment]
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    plural: bool = False
    sure: float = 1.0
    context: Context = ""
    number: str = ""
    language: str = ""
    runner_up: str = ""


class Reader:
    """Reads tags by the words of a vocabulary. *home*: the languages of the texts; empty if they are not known."""

    def __init__(self, words: Vocabulary, home: frozenset[str] = frozenset()) -> None:
        self._words = words
        self._home = home
        self.languages = words.languages

    def is_own(self, text: str) -> bool:
        """Whether a short *text* describes something of the writer's: "my best friend"."""
        words = text.casefold().split()
        return 1 < len(words) <= 6 and words[0] in self._words.own

    def speaks(self, text: str) -> bool:
        """Whether a word of *text*, or the end of one, is known: "PROPER_NAME", "ORDERID"."""
        words = fold_tag(text, frozenset()).words
        ends = (self._words.get(word[at:]) for word in words for at in (0, *range(_SHORT, len(word) - _SHORT)))
        return any(end is not None and end.what in _SAID for end in ends) or any(
            word.endswith("id") and len(word) > 2 * _SHORT for word in words
        )

    def foreign(self, language: str) -> str:
        """Return *language* if it is none of the home languages, else ""."""
        return language if self._home and language not in self._home else ""

    def read(self, text: str) -> Meaning | None:
        """Return the meaning of a tag's *text* (without its signs), or None if it has an unknown word or is too long."""
        if len(text) > 160:  # longer texts are not tags
            return None
        folded = fold_tag(text, self._words.index_words)
        words = folded.words
        if not words:
            return None
        if folded.dropped and " ".join((*words[-1:], *folded.dropped)) in self._words.words:
            words = (*words, *folded.dropped)  # "Unit Number 12" is no unit
        if len(words) == 1 and len(words[0]) == 1 and words[0].isalpha() and not folded.index:
            # A single capital letter ("[X]") is a person, unless the document says that it is something else.
            person = Meaning("person", role="letter", index=words[0], sure=0.5, context="document")
            return person if text.strip(" .").isupper() else None
        meaning = self._street(words, folded.index) or self._phrase(words, folded.index)
        if meaning is None:
            return self._description(words, folded.index)
        if not meaning.index and text != text.upper():
            meaning = meaning._replace(sure=meaning.sure * self._doubt(words))
        if folded.possessive and meaning.kind == "person":
            meaning = meaning._replace(form="possessive")
        return meaning

    def _doubt(self, words: tuple[str, ...]) -> float:
        """Return the factor for the confidence: below 1 for words that authors themselves put in brackets ("[his wife]", "[day]")."""
        doubtful, articles = self._words.doubtful, self._words.articles
        if len(words) > 1 and words[0] in self._words.own:
            return 1.0  # "[my sister]" is the writer's; who quotes somebody inserts "[his wife]"
        said = [word for word in words if word not in articles]
        if any(word in doubtful and word in articles for word in words):
            return _DOUBT
        alone = len(said) == 1 and (said[0] in doubtful or said[0].removesuffix("s") in doubtful)
        return _DOUBT if alone or (len(words) == 1 and len(words[0]) <= _SHORT) else 1.0

    def _description(self, words: tuple[str, ...], index: str) -> Meaning | None:
        """Read a description that stands for a tag: "town in Ohio", "a large company"; None if its noun is not known.

        Where a town is said to be is kept in the form, "in:ohio".
        """
        known = self._words
        if index:
            words = (*words, index)
        begin = 0
        while begin < len(words) and (words[begin] in known.articles or words[begin] in known.adjectives):
            begin += 1
        ends = [end for end in range(begin + 1, len(words)) if self._preposition(words, end)]
        end = ends[0] if ends else len(words)
        meaning = self._phrase(words[begin:end], "")
        described = _PLACES if ends else _PLACES | {"person", "occupation"}
        if meaning is None or (end == len(words) and not begin) or meaning.kind not in described:
            return None
        where = " ".join(words[end + self._preposition(words, end) :]) if ends else ""
        form = f"{WITHIN}{where}" if where and meaning.kind in {"city", "region"} else meaning.form
        return meaning._replace(form=form, same="mention", sure=meaning.sure * 0.85)

    def _preposition(self, words: tuple[str, ...], at: int) -> int:
        """Return the number of words of the preposition at *at* that something follows; 0 if there is none."""
        longest = min(4, len(words) - at - 1)
        return next((size for size in range(longest, 0, -1) if " ".join(words[at : at + size]) in self._words.places), 0)

    def _street(self, words: tuple[str, ...], index: str) -> Meaning | None:
        """Read a street that is named by a letter ("a-straat"), or an address in it ("a-straat 1"); None for anything else."""
        if len(words) < 2 or len(words[0]) != 1:
            return None
        word = self._words.get(" ".join(words[1:]))
        if word is None or not word.lettered:
            return None
        kind, form = ("address", "street") if index else ("street", "")
        language = self._foreign({"": word})
        return Meaning(kind, role="street", index=words[0], number=index, form=form, sure=word.sure, language=language)

    def _phrase(self, words: tuple[str, ...], index: str) -> Meaning | None:
        parts = self._segments(words)
        if parts is None and index:
            # The number may belong to the phrase ("age over 89") instead of being an index ("birth date 1").
            words = (*words, index)
            parts = self._segments(words)
            index = "" if parts else index
        if not parts:
            return None
        meaning = _together(_head_last(parts), index, self._words.ids)
        return meaning._replace(language=self._foreign(parts), runner_up=self._runner_up(parts, index, meaning.kind))

    def _foreign(self, parts: dict[str, Word]) -> str:
        """Return the first language of *parts* that is none of the home languages, or ""."""
        return next((word.language for word in parts.values() if word.what != "skip" and self.foreign(word.language)), "")

    def _runner_up(self, parts: dict[str, Word], index: str, kind: str) -> str:
        """Return the other kind that the tag has where a word of it is read in another language: "number (fr)"; or ""."""
        rivals = self._words.rivals
        for phrase in parts:
            rival = rivals.get(phrase)
            if rival is not None:
                other = _together(_head_last({**parts, phrase: rival}), index, self._words.ids).kind
                if other not in {kind, "generic"}:
                    return f"{other} ({rival.language})"
        return ""

    def _segments(self, words: tuple[str, ...]) -> dict[str, Word] | None:
        """Split *words* greedily into known phrases, the longest first.

        Return None if a word is left over, or if there are only fillers (articles, joiners, qualifiers).
        """
        found: dict[str, Word] = {}
        at = 0
        while at < len(words):
            for end in range(min(len(words), at + self._words.longest), at, -1):
                phrase = " ".join(words[at:end])
                word = self._words.get(phrase)
                if word is not None:
                    found[phrase] = word
                    at = end
                    break
            else:
                return None
        if any(word.what == "unread" for word in found.values()) or _names_code(list(found.values())):
            return None
        if all(word.what in {"skip", "qualifier"} for word in found.values()):  # "tag" is a filler, and the German day
            found = {phrase: self._words.rivals.get(phrase, word) for phrase, word in found.items()}
        return found if any(word.what in {"role", "name", "value", "blank"} for word in found.values()) else None


def _names_code(words: list[Word]) -> bool:
    """Whether a tag is the name of what bears a code ("CARD_NAME", "DEVICE_NAME"): no name of somebody, and no code."""
    values = [word for word in words if word.what == "value"]
    return bool(values) and words[-1].what == "name" and words[-1].head_last and all(word.kind in _NAMELESS for word in values)


def _head_last(parts: dict[str, Word]) -> list[Word]:
    """Return the words of a tag, with the head of "DATE OF LESSON" last, where it is in "LESSON DATE"; "TITLE OF BOOK" has it there."""
    words = list(parts.values())
    # A word between a head and what it is of.
    at = next((at for at, phrase in enumerate(parts) if phrase in {"of", "for", "av", "för", "von", "vom"} and words[at].what == "skip"), 0)
    head = [word for word in words[:at] if word.what in {"role", "name", "value"}]
    # The kinds of weak heads and of titles say nothing of what they are of.
    return words[at:] + words[:at] if head and head[-1].head_last and head[-1].kind not in (_WEAK | {"title", "generic"}) else words


def _together(parts: list[Word], index: str, ids: dict[str, str]) -> Meaning:
    """Combine the meanings of several words: the kind, whose value it is, and the form it is written in.

    *ids* gives the kind of id number that a role has ("student" in "student id").
    """
    said = [word for word in parts if word.what in _SAID or word.what == "service"]
    if not said:
        return Meaning("generic", role="blank", index=index, same="document" if index else "mention", context="mention", sure=parts[0].sure)
    roles = [word for word in said if word.what == "role"]
    names = [word for word in said if word.what == "name"]
    values = [word for word in said if word.what in {"value", "service"}]
    gender = next((word.gender for word in parts if word.what == "qualifier"), None)
    sure = min(word.sure for word in said)
    if len(said) > 1:
        sure = max(sure, 0.9)  # two known words together leave little doubt
    role = " ".join(word.stem for word in roles)
    if values:
        return _value(values, role, index, ids, sure)
    head = (roles[-1] if roles[-1].head_last else roles[0]) if roles else names[0]
    form = next((word.form for word in names if word.form), "")
    same: Same = "document" if index else head.same
    return Meaning(
        "person",
        role=role or names[0].stem,
        index=index,
        same=same,
        form=form,
        gender=gender or head.gender,
        plural=any(word.plural for word in names) or (head.plural and not names),
        sure=sure,
        context="document" if head.party and not names else "",
    )


def _value(values: list[Word], role: str, index: str, ids: dict[str, str], sure: float) -> Meaning:
    """Combine words for a value other than a name; *role* is the role of its owner, "" if none is given."""
    strong = _without_accounts([word for word in values if word.kind not in _WEAK]) or values
    if len(strong) < len(values) and values[-1].head_last and all(word.kind in _ORGANISED for word in strong):
        strong = values[-1:]  # "ORGANIZATION_ID"
    head = strong[-1] if strong[-1].head_last else strong[0]
    kind = ids.get(role, head.kind) if head.kind in _WEAK and role else head.kind
    others = " ".join(dict.fromkeys(word.stem or word.kind for word in strong if not word.service and word.kind != head.kind))
    same: Same = "document" if index or role else head.same
    owner = "" if index else head.owner
    found = Meaning(kind, role=role or head.stem or owner or others, index=index, same=same, form=head.form, plural=head.plural, sure=sure)
    return found._replace(context="mention") if head.beside and not role else found


def _without_accounts(words: list[Word]) -> list[Word]:
    """Return *words* without the account, id or address that is one at a service that they name: "SKYPE ACCOUNT", "EMAIL ACCOUNT"."""
    service = next((word for word in words if word.service), None)
    if service is not None:
        return [word for word in words if word.service or not (word.kind in _OF_SERVICES[service.what] or word.beside)]
    if any(word.account for word in words):
        return [word._replace(kind=_ACCOUNTS[word.kind], form="") for word in words if word.kind in _ACCOUNTS] or words
    return words


TagStatus = Literal["known", "unknown", "left", "nothing"]

UNREAD: Final = "its words are not known"
UNTOLD: Final = "nothing tells what stood there"
DIGITS: Final = "a number of four or more digits in brackets"
MASK: Final = "mask"  # the role of what a form alone tells to be masked: "XXXX", "XX/XX/2019"
CONTACT: Final = "contact"  # the role of a tag that says how to reach somebody, and not by what: "[CONTACT]"
EXEMPTION: Final = "exemption"  # the grammar of "(b)(6)"
NUMBER: Final = "[{number}]"  # the pattern of a number in brackets
UNTOLD_MEANING: Final = Meaning(
    "generic", role="blank", same="mention", context="mention"
)  # what stands around tells the kind, or nothing does


class TagVerdict(NamedTuple):
    """The classification of one candidate.

    ``status`` is known, unknown (reported), left (ordinary text) or nothing (ignored). ``family`` is the candidate's pattern, ``sure``
    the confidence in the meaning (0 to 1), ``original`` the value that the tag contains, if any, and ``why`` the reason for an
    unknown or left one. ``markup`` is the element name if the candidate may be markup.
    """

    status: TagStatus
    family: str
    meaning: Meaning = Meaning("generic")
    original: str = ""
    sure: float = 0.0
    why: str = ""
    markup: str = ""


_OPTION: Final = "--link"


def linked(mapping: Mapping, links: Sequence[str]) -> Mapping:
    """Return *mapping* with the rules of linked tags naming one person. Each link is "TAG=TAG".

    All tags of a person get role and index of the first that has an index, else of the first; they keep their forms and genders, and are
    used even if the survey was unsure of them. Raises ``UsageError`` if a link is none, or if a tag has no rule or is no person's.
    """
    rules = list(mapping.rules)
    for tags in _people(links):
        found = [_rule_of(mapping.rules, tag) for tag in tags]
        rule, index = next((one for one in found if one[1]), found[0])
        same = "document" if rule.same == "mention" else rule.same
        own = [
            replace(other, tag=tag, role=rule.role, index=index, same=same, use=True, confidence=1.0)
            for tag, (other, _) in zip(tags, found, strict=True)
        ]
        rules = [*own, *(rule for rule in rules if rule.tag not in tags)]
    return replace(mapping, rules=tuple(rules))


def _people(links: Sequence[str]) -> list[list[str]]:
    """Return the tags of each linked person: links that share a tag are about one."""
    people: list[list[str]] = []
    for link in links:
        tags = [part.strip() for part in link.split("=")]
        if len(tags) != 2 or not all(tags):
            raise UsageError("a link joins two tags", where=_OPTION, remedy='Write --link "[de man]=[appellant]".')
        shared = [known for known in people if not set(known).isdisjoint(tags)]
        people = [known for known in people if known not in shared]
        people.append(list(dict.fromkeys([*(tag for known in shared for tag in known), *tags])))
    return people


def _rule_of(rules: Sequence[TagRule], tag: str) -> tuple[TagRule, str]:
    """Return the rule that *tag* falls under, and the index that the tag has by it."""
    for rule in rules:
        if rule.tag == tag:
            return _person(rule, tag), rule.index
    for rule in rules:
        if rule.tag and has_tokens(rule.tag):
            found = re.fullmatch(pattern_of(rule.tag), tag)
            if found:
                groups = found.groupdict()
                index = groups.get("index") or groups.get("letter") or rule.index
                return _person(rule, tag), index.replace(" ", "").casefold()
    raise UsageError(
        "no placeholder of the input is written like one of the tags", where=_OPTION, remedy="piiloom surrogate survey lists the tags."
    )


def _person(rule: TagRule, tag: str) -> TagRule:
    if rule.kind != "person":
        raise UsageError(f"the tag {tag!r} stands for a {rule.kind} and no person", where=_OPTION, remedy="Link tags of people.")
    return rule


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
