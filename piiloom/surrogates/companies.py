"""Tell companies from people by what stands beside a name: "[naam] B.V.", "[NAME], with registered office in", "the company [NAME]"."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.surrogates.kinds.legal_forms import beginnings, company_follows, company_precedes, endings, form_precedes
from piiloom.surrogates.mentions import Mention

_SIGNS = frozenset(",)")


def companies_told(text: str, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Return *mentions* with those of people turned into companies that the text tells to be one, at all their places.

    If there is none, they are the same object.
    """
    told, last, found = beginnings(), endings(), []
    for number, mention in enumerate(mentions):
        if mention[2] != "person":
            continue
        start, end = mention[0], mention[1]
        # Hardly any name passes the first check, which is cheap: what follows begins like a legal form.
        if (
            (
                (text[end + 1 : end + 4] in told or (text[end : end + 1] in _SIGNS and text[end + 2 : end + 5] in told))
                and company_follows(text, end)
            )
            or (text[start - 4 : start - 1] in last and company_precedes(text, start))
            or form_precedes(text, start)
        ):
            found.append(number)
    if not found:
        return _of_parties(mentions)
    keys = {_key(mentions[number]) for number in found} - {None}
    alone = set(found)
    return _of_parties(
        [
            mention._replace(kind="company", form="", gender=None, plural=False)
            if mention.kind == "person" and (number in alone or _key(mention) in keys)
            else mention
            for number, mention in enumerate(mentions)
        ]
    )


def _of_parties(mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Let the number of a party that is a company and one person ("[appellante sub 4A]", "[appellant sub 4B]") stand for that person.

    "Hierna tezamen en in enkelvoud: [appellant sub 4]" would be a third name otherwise.
    """
    parties = {(mention[3], mention[4][:-1]) for mention in mentions if mention[2] == "company" and mention[4][-1:].isalpha()}
    if not parties:
        return mentions
    people: dict[tuple[str, str], set[str]] = {}
    for mention in mentions:
        if mention.kind == "person" and (mention.role, mention.index[:-1]) in parties:
            people.setdefault((mention.role, mention.index[:-1]), set()).add(mention.index)
    alone = {party: next(iter(found)) for party, found in people.items() if len(found) == 1}
    return [
        mention._replace(index=alone[mention.role, mention.index])
        if mention.kind == "person" and mention.index[-1:].isdigit() and (mention.role, mention.index) in alone
        else mention
        for mention in mentions
    ]


def _key(mention: Mention) -> tuple[str, str] | None:
    """Return what the mentions of one person or company have in common; None if there is one mention only."""
    if mention.original:
        return "original", mention.original
    return (mention.role, mention.index) if mention.index or mention.same != "mention" else None
