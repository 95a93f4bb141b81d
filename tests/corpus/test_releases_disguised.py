"""Values and texts that another spelling disguises are one: splits keep them together, and the leak report counts them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import split_records
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import plain_record
from tests.longer import EXPLORE, case_by_case

NAME, PHONE, IBAN = ("name", "José O’Neill-Müller Ångström"), ("code", "+49 (30) 901-820 55"), ("code", "DE89 3704 0044 0532 0130 00")
# Disguises of values alone: type, value, the same value in another spelling.
SAME = [
    ("code", "523-45-6789", "523 45 6789"),  # not a date
    ("code", "523-45-6789", "523456789"),
    ("code", "+49 (0)30 9018255", "+49 30 9018255"),
    ("code", "+49 30 9018255", "+\u0664\u0669 \u0663\u0660 \u0669\u0660\u0661\u0668\u0662\u0665\u0665"),
    ("code", "+91 98765 43210", "+\u096f\u0967 \u096f\u096e\u096d\u096c\u096b \u096a\u0969\u0968\u0967\u0966"),
    ("code", "(555) 867 5309", "[555] 867•5309"),
    ("code", "030/901820", "030\u2044901820"),
    ("code", "06 12 34 56 78", "06.12.34.56.78"),
    ("code", "0170 12 3456", "0170-12-3456"),
    ("code", "030.901.820.55", "03090182055"),
    ("code", "12.345.678/0001-95", "12345678000195"),
    ("code", "DE89 3704 0044 0532 0130 00", "de89-3704-0044-0532-0130-00"),
    ("name", "Ana Neill-Müller", "Ana Neill -- Müller"),
    ("name", "Ana Neill-Müller", "Ana Neill\u2e17Müller"),
    ("name", "Ana O’Neill", "Ana O\u02bbNeill"),
    ("name", "Ana O’Neill", "Ana O\ua78cNeill"),
    ("name", "Ana Strauß", "ANA STRAUSS"),
    ("name", "Josefine Griffith", "Jose\ufb01ne Gri\ufb03th"),
    ("name", "Ana Torres", "\u202bAna\u2009Torres\u202c"),
    ("name", "Ngọ Nguyễn", "Ngo\u0323 Nguye\u0302\u0303n"),
    ("name", "محمد علي", "محـمد علي"),
]
FULL_WIDTH = {ord("0") + digit: 0xFF10 + digit for digit in range(10)}


def soft(text: str) -> str:
    """*text* with a soft hyphen or zero-width space after each third letter."""
    return "".join(letter + ("\u200b" if at % 6 else "\u00ad") * (at % 3 == 2) for at, letter in enumerate(text))


# Kind of disguise: the value that has it, and what it does to the value and to a text.
DISGUISES: dict[str, tuple[tuple[str, str], Callable[[str], str]]] = {
    "line break": (NAME, lambda text: text.replace(" ", "\n")),
    "no-break space": (NAME, lambda text: text.replace(" ", "\u00a0")),
    "two blanks": (NAME, lambda text: text.replace(" ", "  ")),
    "decomposed": (NAME, lambda text: unicodedata.normalize("NFD", text)),
    "zero-width characters": (NAME, soft),
    "straight apostrophe": (NAME, lambda text: text.replace("’", "'")),
    "other dashes": (NAME, lambda text: text.replace("-", "\u2010")),
    "capitals": (NAME, str.upper),
    "telephone without brackets": (PHONE, lambda text: text.replace("(", "").replace(")", "").replace("-", " ")),
    "telephone with dots": (PHONE, lambda text: text.replace("+49 (30) 901-820 55", "+49.30.90182055")),
    "IBAN without blanks": (IBAN, lambda text: text.replace("DE89 3704 0044 0532 0130 00", "DE89370400440532013000")),
    "full-width digits": (PHONE, lambda text: text.translate(FULL_WIDTH)),
    "full-width letters": (IBAN, lambda text: "".join(chr(ord(one) + 0xFEE0) if "A" <= one <= "Z" else one for one in text)),
}


def with_value(record: Record, entity_type: str, value: str) -> Record:
    context = f"{record.context} {value}"
    span = Span(id="v", start=len(context) - len(value), end=len(context), entity_type=entity_type, relevance="high")
    return replace(record, context=context, spans=(span,))


@pytest.mark.parametrize("kind", DISGUISES)
def test_a_disguised_value_or_text_is_the_same(kind: str) -> None:
    (entity_type, value), disguise = DISGUISES[kind]
    assert disguise(value) != value
    others = [plain_record(number) for number in range(30)]
    values = (with_value(plain_record(100), entity_type, value), with_value(plain_record(101), entity_type, disguise(value)))
    text = "I wrote to José and to O’Neill’s office about +49 (30) 901-820 55 and DE89 3704 0044 0532 0130 00, "
    text += f"and non-urgent {value} also. Since then nobody "
    text += "has called me back, although the letter said that I would hear from them within two weeks at the very latest"
    texts = (
        replace(plain_record(200), context=text, spans=(), question=None),
        replace(plain_record(201), context=disguise(text), spans=(), question=None),
    )
    questions = (replace(plain_record(300), question=text), replace(plain_record(301), question=disguise(text)))
    for pair in (values, texts, questions):
        for seed in range(12 if EXPLORE else 3):
            split = split_records([*others, *pair], SplitSettings(test_size=8, seed=seed), taxonomy=shipped_taxonomy())
            assert {name for name, ids in split.ids.items() for record in pair if record.id in ids} != {"train", "test"}
    seen = measure_leakage({"train": [*others, values[0]], "test": [values[1]]}, taxonomy=shipped_taxonomy()).splits["test"]
    assert (seen.values.seen, seen.open_values.seen, seen.strings.seen) == (1, 1, 1)
    seen = measure_leakage(
        {"train": [*others, texts[0], questions[0]], "test": [texts[1], questions[1]]}, taxonomy=shipped_taxonomy()
    ).splits["test"]
    changes_words = kind.startswith(("telephone", "IBAN"))
    assert (seen.contexts_near.seen, seen.questions_near.seen) == (1, 1)
    assert changes_words or (seen.contexts_same.seen, seen.questions_same.seen) == (1, 1)


@case_by_case(("entity_type", "one", "other"), SAME)
def test_a_value_in_another_spelling_is_seen(entity_type: str, one: str, other: str) -> None:
    assert one != other
    records = [with_value(plain_record(number), entity_type, value) for number, value in enumerate((one, other))]
    assert measure_leakage({"train": records[:1], "test": records[1:]}, taxonomy=shipped_taxonomy()).splits["test"].values.seen == 1


@case_by_case(
    ("entity_type", "one", "other"),
    [
        ("code", "192.168.1.10", "192.168.11.0"),
        ("code", "192.168.1.10/24", "192.168.11.0/24"),
        ("code", "1 11 2020", "11 1 2020"),
        ("code", "1.11.2020 10:15", "11.1.2020 10:15"),
        ("code", "2020-1-11", "2020-11-1"),
        ("code", "12345.67", "1234567"),
        ("code", "51.5074, -0.1278", "51.5074, 0.1278"),
        ("finance", "1.000", "1,000"),
        ("finance", "1.50", "150"),
        ("education", "C", "C++"),
        ("datetime", "10:30", "1030"),
        ("code", "ana.b12345@example.org", "an.ab12345@example.org"),
        ("code", "1.11.2020", "11.1.2020"),
        ("code", "https://example.org/12/345", "https://example.org/123/45"),
        ("finance", "12,345 - 60", "12,34 5-60"),
        ("name", "Ana Torres", "Anatorres"),
        ("code", "DE89370400440532013000", "DE89370400440532013001"),
    ],
)
def test_values_that_differ_stay_different(entity_type: str, one: str, other: str) -> None:
    records = [with_value(plain_record(number), entity_type, value) for number, value in enumerate((one, other))]
    seen = measure_leakage({"train": records[:1], "test": records[1:]}, taxonomy=shipped_taxonomy()).splits["test"]
    assert seen.values.seen == 0
