"""The redacted corpora that came with the project, read in place: all known tags are found, unknowns are few, real brackets stay."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from piiloom.surrogates.placeholders import Finder, FoundTags, Mapping, auto_mapping
from tests.shared_files import of_whole, shared

_DATA = shared("data")


@cache
def corpus(name: str) -> tuple[list[str], Mapping, list[FoundTags]]:
    folder = _DATA / name
    texts = {"goemotions": _goemotions, "rechtspraak_nl": _rechtspraak, "obi_ehr_notes": _obi, "mts_dialog": _mts}[name](folder)
    mapping = auto_mapping(texts)
    finder = Finder(mapping)
    return texts, mapping, [finder.find(text) for text in texts]


def _goemotions(folder: Path) -> list[str]:
    return [line.split("\t")[0] for line in (folder / "placeholders.tsv").read_text("utf-8").splitlines()]


def _rechtspraak(folder: Path) -> list[str]:
    return [path.read_text("utf-8") for path in sorted(folder.glob("*.txt"))]


def _obi(folder: Path) -> list[str]:
    return [json.loads(line)["deid_text"] for line in (folder / "deid.jsonl").read_text("utf-8").splitlines()]


def _mts(folder: Path) -> list[str]:
    with (folder / "MTS_Dataset_TrainingSet.csv").open(encoding="utf-8", newline="") as file:
        return [text for row in csv.DictReader(file) for text in (row["dialogue"], row["section_text"])]


def found_texts(name: str) -> Counter[str]:
    texts, _, found = corpus(name)
    return Counter(text[m.start : m.end] for text, each in zip(texts, found, strict=True) for m in each.mentions)


def unknown_texts(name: str) -> set[str]:
    texts, _, found = corpus(name)
    return {text[u.start : u.end] for text, each in zip(texts, found, strict=True) for u in each.unknown}


def left_texts(name: str) -> set[str]:
    texts, _, found = corpus(name)
    return {text[start:end] for text, each in zip(texts, found, strict=True) for start, end in each.left}


def test_goemotions() -> None:
    assert found_texts("goemotions") == of_whole({"[NAME]": 4996, "[RELIGION]": 71}, {"[NAME]": 170, "[RELIGION]": 10})
    assert unknown_texts("goemotions") == {"_____", "Q."}  # the second is an artist's name, "Schoolboy Q"
    assert "[one finger of the monkeys paw curls]" in left_texts("goemotions")


def test_obi_notes() -> None:
    texts, _, found = corpus("obi_ehr_notes")
    tags = Counter(tag for text in texts for tag in re.findall(r"<<\w+:[^<>]*>>", text))
    assert found_texts("obi_ehr_notes") == tags
    assert unknown_texts("obi_ehr_notes") == set()
    mentions = [m for each in found for m in each.mentions]
    assert all(m.original for m in mentions)
    assert Counter(m.kind for m in mentions)["birth_date"] == of_whole(2, 1)
    assert {m.original for m in mentions if m.kind == "address"} >= {
        "123 Park Drive, San Diego, CA, 03245",
        *of_whole(["98 Anton Street"], []),
    }
    assert {m.original for m in mentions if m.kind == "age"} == {"54", "77"}


def test_rechtspraak() -> None:
    texts, mapping, _ = corpus("rechtspraak_nl")
    brackets = Counter(tag for text in texts for tag in re.findall(r"\[[^\[\]]*\]", text))
    known = found_texts("rechtspraak_nl")
    known["[eiser]"] += known.pop("[[eiser]]", 0)
    real = {
        "[...]",
        "[…]",
        "[is]",
        "[gaat]",
        "[kan]",
        "[bestaat]",
        "[te P]",
        "[8]",
        "[€ 34.500]",
        "[over welke bedragen geen btw verschuldigd is]",
    }
    left = {text for text in left_texts("rechtspraak_nl") if text.startswith("[")}
    assert real & of_whole(real, set(brackets)) <= left
    assert all(
        len(text) > 40 for text in left - real - {"[die aanvangen op (...) 1 januari 1990]", "[kennelijk leugenachtige verklaring, AG]"}
    )
    unknown = {"[X.]", "[1978]", "[1987]", "[bedrijfsvermogen]", *(f"[000{n}]" for n in range(1, 7))}
    assert unknown_texts("rechtspraak_nl") == of_whole(unknown, set())
    assert set(brackets) - set(known) - unknown - left == set()
    assert all(count == brackets[tag] for tag, count in known.items() if tag.startswith("["))
    assert sum(known.values()) == of_whole(1871, 72)
    assert not [noted for noted in mapping.left_alone if noted.tag in known]


def test_rechtspraak_parties_and_their_indexes() -> None:
    texts, _, found = corpus("rechtspraak_nl")
    big = max(range(len(texts)), key=lambda number: len(texts[number]))
    kinds = {(m.role, m.index): m.kind for m in found[big].mentions}
    assert {index for (role, index), kind in kinds.items() if role == "appellant" and kind == "company"} == {"2", "3", "4a", "7", "20"}
    assert kinds["appellant", "18"] == "person"
    assert all(m.plural == texts[big][m.start : m.end].startswith("[appellanten") for m in found[big].mentions if m.role == "appellant")


def test_mts_dialogues() -> None:
    texts, mapping, found = corpus("mts_dialog")
    known = found_texts("mts_dialog")
    whole = {
        *"XYZABGHJKL",
        "ABC",
        "A B C",
        "ABCD",
        "A B C D",
        "XYZ",
        "X Y Z",
        "ASDF",
        "ABC ABC",
        "A B C A B C",
        "A B  C",
        "Month DD, YYYY",
        "Month D D, Y Y Y Y",
    }
    assert set(known) == of_whole(whole, {"A B C", "ABC", "X", "A B C D", "ABCD"})
    assert sum(known.values()) == of_whole(244, 11)
    assert unknown_texts("mts_dialog") == of_whole({"________", "__________", "Doctor_2", "Guest_family_1", "Guest_family_2"}, set())
    left = [text[: m.start] for text, each in zip(texts, found, strict=True) for m in each.mentions if m.end - m.start == 1]
    assert all(re.search(r"(?:Dr|Doctor|doctor|Ms|Mrs|Mr|Mister|Miss|miss)\.? (?:[A-Z] and )?$", text) for text in left)
    assert {rule.tag for rule in mapping.rules if not rule.use} == of_whole({"____", "Doctor_{index}", "Guest_family_{index}"}, set())
    acronyms = re.compile(r"\b(?:HTN|MRI|CPAP|ETOH|COPD|CT|EMG|UIHC)\b")
    assert not any(acronyms.search(tag) for tag in known)
