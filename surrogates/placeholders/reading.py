"""What the text of a tag means: its words put together."""

from __future__ import annotations

from typing import Final, NamedTuple

from piiloom.surrogates.mentions import Gender, Same
from piiloom.surrogates.placeholders.folding import fold_tag
from piiloom.surrogates.placeholders.vocabulary import Vocabulary, Word

Context = str  # "" | "mention" | "document"; see ``mapping.Rule.context``

_WEAK: Final = frozenset({"number", "id_number"})  # "phone number", "student id": the other word says more
_DOUBT: Final = 0.65
_SHORT: Final = 3
_LETTER_SURE: Final = 0.5
_GROUPS_OF_LETTERS: Final = 40  # longer texts are no tags
_STREET: Final = "street"


class Meaning(NamedTuple):
    """What a tag says of what stood there. ``context`` says that the text around decides the kind ("mention", "document")."""

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


class Reader:
    """Reads tags by the words of a vocabulary."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words

    def read(self, text: str) -> Meaning | None:
        """The meaning of a tag's *text* (without its signs), or None where some word of it is unknown."""
        if len(text) > 4 * _GROUPS_OF_LETTERS:
            return None
        folded = fold_tag(text, self._words.index_words)
        words = folded.words
        if not words:
            return None
        if len(words) == 1 and len(words[0]) == 1 and words[0].isalpha() and not folded.index:
            return self._letter(text, words[0])
        meaning = self._street(words, folded.index) or self._phrase(words, folded.index)
        if meaning is not None and not meaning.index and text != text.upper():
            meaning = meaning._replace(sure=meaning.sure * self._doubt(words))
        if meaning is not None and folded.possessive and meaning.kind == "person":
            meaning = meaning._replace(form="possessive")
        return meaning

    def _doubt(self, words: tuple[str, ...]) -> float:
        """What is left of the confidence where writers put such words in brackets themselves: "[his wife]", "[day]", "[far]"."""
        doubtful, articles = self._words.doubtful, self._words.articles
        said = [word for word in words if word not in articles]
        if any(word in doubtful and word in articles for word in words):
            return _DOUBT
        alone = len(said) == 1 and (said[0] in doubtful or said[0].removesuffix("s") in doubtful)
        return _DOUBT if alone or (len(words) == 1 and len(words[0]) <= _SHORT) else 1.0

    @staticmethod
    def _letter(text: str, letter: str) -> Meaning | None:
        """Somebody or something by a letter ("[X]"); the text tells which, if anything does."""
        if not text.strip(" .").isupper():
            return None
        return Meaning("person", role="letter", index=letter, sure=_LETTER_SURE, context="document")

    def _street(self, words: tuple[str, ...], index: str) -> Meaning | None:
        """A street by a letter ("a-straat"), or a house in it ("a-straat 1")."""
        if len(words) < 2 or len(words[0]) != 1:
            return None
        word = self._words.get(" ".join(words[1:]))
        if word is None or not word.lettered:
            return None
        if index:
            return Meaning("address", role=_STREET, index=words[0], number=index, form="street", sure=word.sure)
        return Meaning("street", role=_STREET, index=words[0], sure=word.sure)

    def _phrase(self, words: tuple[str, ...], index: str) -> Meaning | None:
        parts = self._segments(words)
        if parts is None and index:
            # "birth date 1" has an index, "age over 89" has none: the whole may be a phrase itself.
            parts, whole = self._segments((*words, index)), True
            index = "" if whole and parts else index
        if not parts:
            return None
        return _together(parts, index, self._words.ids)

    def _segments(self, words: tuple[str, ...]) -> list[Word] | None:
        """*words* as known phrases, longest first; None when a word is left over, or nothing but fillers was found."""
        found: list[Word] = []
        at = 0
        while at < len(words):
            for end in range(min(len(words), at + self._words.longest), at, -1):
                word = self._words.get(" ".join(words[at:end]))
                if word is not None:
                    found.append(word)
                    at = end
                    break
            else:
                return None
        return found if any(word.what in {"role", "name", "value", "blank"} for word in found) else None


def _together(parts: list[Word], index: str, ids: dict[str, str]) -> Meaning:
    """The meaning of several words: what they name, whose it is, how it is written."""
    said = [word for word in parts if word.what in {"role", "name", "value"}]
    if not said:
        return Meaning("generic", role="blank", index=index, same="document" if index else "mention", context="mention", sure=parts[0].sure)
    roles = [word for word in said if word.what == "role"]
    names = [word for word in said if word.what == "name"]
    values = [word for word in said if word.what == "value"]
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
        role=role or "name",
        index=index,
        same=same,
        form=form,
        gender=gender or head.gender,
        plural=any(word.plural for word in names) or (head.plural and not names),
        sure=sure,
        context="document" if head.party and not names else "",
    )


def _value(values: list[Word], role: str, index: str, ids: dict[str, str], sure: float) -> Meaning:
    """A value of another kind than a name; *role* is whose it is."""
    strong = [word for word in values if word.kind not in _WEAK] or values
    head = strong[-1] if strong[-1].head_last else strong[0]
    kind = ids.get(role, head.kind) if head.kind in _WEAK and role else head.kind
    others = " ".join(dict.fromkeys(word.stem or word.kind for word in strong if word is not head and word.kind != head.kind))
    same: Same = "document" if index or role else head.same
    owner = "" if index else head.owner
    return Meaning(kind, role=role or head.stem or owner or others, index=index, same=same, form=head.form, plural=head.plural, sure=sure)
