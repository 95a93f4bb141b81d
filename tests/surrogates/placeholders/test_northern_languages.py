"""Norwegian, Danish, Finnish and Polish (not checked by native speakers), and Swedish: their tags are read, their words are used."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.placeholders.scanning import language_told

_TEXTS = [
    ("no", "Vitnet [navn] sa at [tiltalte] ikke var i [kommune] den [dato], og hun hadde ikke noe å si om det.", "person person city date"),
    (
        "da",
        "Vidnet [navn] sagde, at [tiltalte] ikke var i [kommune] den [dato], og hun havde ikke noget at sige.",
        "person person city date",
    ),
    ("fi", "Todistaja [nimi] kertoi, että [vastaaja] oli ollut siellä [päivämäärä], ja hän asuu: [osoite].", "person person date address"),
    ("pl", "Świadek [imię i nazwisko] zeznał, że [oskarżony] nie był w [miejscowość] dnia [data].", "person person city date"),
    ("sv", "Vittnet [namn] sa att [tilltalade] inte var i [kommun] den [datum], och hon hade inte sett det.", "person person city date"),
]


@pytest.mark.parametrize(("language", "text", "kinds"), _TEXTS, ids=[language for language, _, _ in _TEXTS])
def test_tags_are_read(language: str, text: str, kinds: str) -> None:
    assert language_told(text) == language
    for given in (language, ""):
        found = Finder(auto_mapping([text], given)).find(text)
        assert [one.kind for one in found.mentions] == kinds.split()
        assert not found.unknown
