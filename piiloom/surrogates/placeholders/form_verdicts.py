"""Verdicts on placeholders of which the form says more than words do: masks, runs of one sign, letters for names, ids of accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from piiloom.surrogates.placeholders.grammar_files import Grammar
from piiloom.surrogates.placeholders.reading import Meaning
from piiloom.surrogates.placeholders.scanning import INITIALS, LETTERS
from piiloom.surrogates.placeholders.verdicts import EXEMPTION, MASK, UNREAD, UNTOLD_MEANING, Verdict
from piiloom.surrogates.placeholders.widening import SIGNS

PAIR: Final = "letter_pair"
UNDERSCORED: Final = "underscored"
DOTTED: Final = "dotted"
LETTER_BLANK: Final = "letter_blank"
_LETTER_FAMILIES: Final = {UNDERSCORED: "{letter}._", DOTTED: "{letter}...", LETTER_BLANK: "{letter}__"}
_FREE: Final = re.compile(f"[{re.escape(SIGNS)}]")
_SPELT: Final = re.compile(r"Month ?D|[DMTY]{1,4}[-/.][DMT]{1,2}[-/.][DYJ]{2,4}$")  # "Month DD, YYYY", "YYYY-MM-DD"
_MASKED: Final = re.compile(r"[Xx]x{3,}|X{4,}")
_MASK_SURE: Final = 0.86  # four X's and more are always a mask
_CAPITAL: Final = re.compile(r"[A-Z]")
_ID: Final = re.compile(r"[A-Z0-9]+")
_LONGEST_RUN: Final = 4
_LONGEST_DOTS: Final = 5
_LONGEST_LETTERS: Final = 12
_LONGEST_SHOWN: Final = 40
_FORM_LESS: Final = 0.15  # subtracted for longer runs: MIMIC-IV writes three underscores, while longer ones are often blank forms
_SHAPELESS: Final = frozenset({"email", "url", "age", "money"})  # kinds whose values do not keep the shape of the mask
_TOLD_BESIDE: Final = frozenset({"masked_age", "masked_amount"})  # the text beside them makes them masks: "X years old", "$X"
_NAMED_SURE: Final = 0.7  # "J*** D**": two names


def mask_form(kind: str, literal: str) -> str:
    """Return the form of a value of *kind* that keeps what the mask *literal* shows: X's stand for what it hides; "" if it has no shape."""
    shaped = kind not in _SHAPELESS and (_FREE.search(literal) or _SPELT.match(literal))
    return f"mask:{_FREE.sub('X', literal)}" if shaped else ""


def mask_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge a masked number, date or address: "XX/XX/2019", "***-**-1234". Its signs are X's in the form."""
    form = mask_form(grammar.kind, literal)
    family = f"{literal} ({grammar.kind})" if grammar.name in _TOLD_BESIDE else literal  # no pattern: "X" alone is nothing
    family = re.sub(r"\d+", "{digits}", family) if literal[0].isalpha() or literal[0] in SIGNS else re.sub(r"\d", "0", family)
    if not grammar.kind:
        return Verdict("known", family, UNTOLD_MEANING._replace(form=form), sure=grammar.upper)
    return Verdict("known", family, Meaning(grammar.kind, role=MASK, same="mention", form=form), sure=grammar.upper)


def run_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge what only says that something was there: "____", "[REDACTED]"."""
    form = grammar.name == "blank" and len(literal) >= _LONGEST_RUN
    longest = _LONGEST_DOTS if literal[0] == "." else _LONGEST_RUN
    family = literal if len(literal) <= longest else literal[: longest - 1] + literal[-1]
    return Verdict("known", family, UNTOLD_MEANING, sure=grammar.upper - _FORM_LESS * form)


def letters_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge groups of letters: "ABC" is somebody or something, "XXXX" a mask."""
    spaced = re.sub(r" +", " ", literal)
    once = re.sub(r"^(.+?)(?: \1)+$", r"\1", spaced) if len(spaced) > 5 else spaced
    if _MASKED.fullmatch(once):
        return Verdict("known", once[:_LONGEST_RUN], UNTOLD_MEANING._replace(role=MASK), sure=max(grammar.upper, _MASK_SURE))
    meaning = Meaning("person", role=LETTERS, index=once.replace(" ", "").casefold(), context="mention")
    return Verdict("known", once[:_LONGEST_LETTERS], meaning, sure=grammar.upper)


def lettered_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge a name that is written as letters: "[L] [B]", "A.________", "X...", "B____"."""
    letters = _CAPITAL.findall(literal)
    form = "full" if grammar.name == PAIR else ""
    family = " ".join(["[{letter}]"] * len(letters)) if grammar.name == PAIR else _LETTER_FAMILIES[grammar.name]
    index = (" " if grammar.name == PAIR else ".").join(letters).casefold()
    meaning = Meaning("person", role="letter", index=index, form=form, context="document")
    return Verdict("known", family, meaning, sure=grammar.upper)


def company_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge the letter of a company before its legal form, "K. GmbH"; it is the same company at every mention."""
    meaning = Meaning("company", role="letter", index=literal[0].casefold(), form="bare")
    return Verdict("known", f"{literal} (company)", meaning, sure=grammar.upper)  # no pattern: "K." alone is an initial


def initials_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge the letter of a family name after initials, "L.-J. X"; those who have the same initials are one."""
    initials, letter = literal.rsplit(" ", 1)
    meaning = Meaning("person", role=INITIALS, index=f"{initials} {letter}".casefold(), form="family")
    return Verdict("known", f"{initials} {{letter}}", meaning, sure=grammar.upper)


def unnamed_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge "N.N.", somebody of whom the name is not told, or not yet."""
    return Verdict("known", literal.replace(" ", ""), Meaning("person", role="nn", same="mention", form="full"), sure=grammar.upper)


def starred_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge words of which only letters are left: "J*** D**" is a name, of "J***" the text around tells what it is."""
    shown = literal[:_LONGEST_SHOWN]
    if " " not in literal:
        return Verdict("known", shown, UNTOLD_MEANING, sure=grammar.upper)
    return Verdict("known", shown, Meaning("person", role="starred", index=literal.casefold(), form="full"), sure=_NAMED_SURE)


def account_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge an account's id in a chat: "<@U024BE7LH>"."""
    found = _ID.search(literal)
    index = found.group().casefold() if found else ""
    return Verdict("known", "<@{index}>", Meaning("username", role="account", index=index, form="at"), sure=grammar.upper)


def channel_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge a channel's id in a chat, "<#C024BE7LR|general>": it is listed, since what it names is seldom personal."""
    return Verdict("unknown", "<#{index}>" if "|" not in literal else "<#{index}|name>", sure=grammar.upper, why=UNREAD)


def listed_verdict(grammar: Grammar, literal: str) -> Verdict:
    """Judge what stands for something and does not say what: "(b)(6)", "EMAIL_ADDRESS(52):AVAx2…", "张某某"."""
    head, colon, _ = literal.partition(":")
    return Verdict("unknown", f"{head}{colon and ':…'}"[:_LONGEST_SHOWN], sure=grammar.upper, why=UNREAD)


FORM_VERDICTS: Final[dict[str, Callable[[Grammar, str], Verdict]]] = {
    **dict.fromkeys(("redacted", "empty_angle", "hash_run", "crossed_pair", "redacting_star", "redacting_dash"), run_verdict),
    **dict.fromkeys((LETTERS, "small_letters", "mixed_letters"), letters_verdict),
    **dict.fromkeys((PAIR, UNDERSCORED, DOTTED, LETTER_BLANK), lettered_verdict),
    **dict.fromkeys(("initials_x", "initial_x"), initials_verdict),
    "masked_number": mask_verdict,
    "letter_company": company_verdict,
    "nn": unnamed_verdict,
    **dict.fromkeys((EXEMPTION, "surrogate_token", "so_and_so"), listed_verdict),
    "starred_name": starred_verdict,
    "mention_id": account_verdict,
    "channel_id": channel_verdict,
}
