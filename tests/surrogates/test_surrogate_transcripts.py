"""260 transcripts of tutoring sessions through whole runs: two people each, 13 other kinds, traps, groups, genders, and equal bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from piiloom.surrogates.documents import Document, OffsetMap
from piiloom.surrogates.engine import Engine, EngineFactory
from piiloom.surrogates.engine_report import group_report
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.kinds.identifiers import ascii_letters
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.placeholders import Finder
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings
from tests.surrogates.transcripts import NAME_TAGS, OTHER_TAGS, TRAPS, transcripts
from tests.surrogates.whole_runs import (
    POOLS,
    SEED,
    WholeRun,
    check_balance,
    check_genders,
    check_one_to_one,
    given_names,
    whole_run,
)

COUNT = 260
KINDS_OF_TAGS = {tag: tag.strip("<>").lower() for tag in OTHER_TAGS} | dict.fromkeys(NAME_TAGS, "person")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each transcript."""
    folder = tmp_path_factory.mktemp("transcripts") / "in"
    folder.mkdir()
    for name, text in transcripts(COUNT):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
    return folder


@pytest.fixture(scope="module")
def run(source: Path) -> WholeRun:
    """The run with learnt tags."""
    return whole_run(SourceSettings(path=source), source.parent / "out")


def test_the_transcripts_hold_what_they_are_to_show(source: Path) -> None:
    texts = [path.read_text("utf-8") for path in sorted(source.iterdir())]
    assert len(texts) == COUNT
    assert len(OTHER_TAGS) == 13
    assert all(all(tag in text for tag in NAME_TAGS) for text in texts)
    assert min(sum(tag in text for text in texts) for tag in OTHER_TAGS) > 50
    assert min(sum(trap in text for text in texts) for trap in TRAPS) > 10


@pytest.mark.long
def test_every_code_point_outside_of_replacements_is_identical(run: WholeRun) -> None:
    checked = verify_folder(run.out, run.source)
    assert (checked.documents, checked.ranges) == (COUNT, run.report["replaced"]["total"])
    for document, _, _, record, mapped in run.rows():
        offsets = OffsetMap(mapped["ranges"])
        assert offsets.restore(record["context"], [document.text[start:end] for start, end, _, _ in offsets.ranges]) == document.text
        assert (run.out / "mirror" / document.file).read_text("utf-8") == record["context"]


def test_all_kinds_are_replaced_wherever_they_stand(run: WholeRun) -> None:
    expected: Counter[str] = Counter()
    for document in run.documents:
        for tag, kind in KINDS_OF_TAGS.items():
            expected[kind] += document.text.count(tag)
    assert run.report["replaced"]["by_kind"] == expected
    assert set(expected) - {"person"} == {tag.strip("<>").lower() for tag in OTHER_TAGS}
    for record in run.records:
        assert not any(tag in record["context"] for tag in KINDS_OF_TAGS)
    assert run.report["unknown"] == {"total": 0, "tags": {}}


def test_each_tag_became_a_span_of_its_own(run: WholeRun) -> None:
    for document, _, _, record, mapped in run.rows():
        tags = [match.span() for match in re.finditer("|".join(KINDS_OF_TAGS), document.text)]
        assert [tuple(one[:2]) for one in mapped["ranges"]] == tags
        for span in record["spans"]:
            assert record["context"][span["start"] : span["end"]] == span["text"]
            assert not set("<>[]{}") & set(span["text"])


def test_what_only_looks_like_a_tag_is_left_alone(run: WholeRun) -> None:
    for document, _, _, record, _ in run.rows():
        for trap in TRAPS:
            assert record["context"].count(trap) == document.text.count(trap), (document.id, trap)
    assert set(run.report["left_alone"]["brackets"]) >= {"[sic]", "<b>", "[i]", "<int>", "<https://example.org/help>", "[0]"}


def test_one_student_and_one_tutor_in_each_transcript(run: WholeRun) -> None:
    check_one_to_one(run)
    for document, found, _, record, _ in run.rows():
        names: dict[str, set[tuple[str, str]]] = {"student": set(), "tutor": set()}
        for mention, span in zip(found.mentions, record["spans"], strict=True):
            if mention.kind == "person":
                names[mention.role].add((span["value_id"], span["text"]))
        assert [len(one) for one in names.values()] == [1, 1], (document.id, names)
        assert not names["student"] & names["tutor"]
    assert run.report["engine"]["consistency"]["people_torn_or_mixed"] == 0
    assert run.report["engine"]["consistency"]["people_in_documents"] == 2 * COUNT


# Groups and genders


def pronoun_genders() -> list[str | None]:
    """What the pronouns of each transcript's note tell of its student: "she", "he", or nothing ("they", or no note)."""
    genders: list[str | None] = []
    for _, text in transcripts(COUNT):
        words = set(re.findall(r"[a-z]+", "".join(re.findall(r"NOTE:.*", text))))
        genders.append("female" if words & {"she", "her"} else "male" if words & {"he", "him", "his"} else None)
    return genders


def test_groups_are_equal_but_for_what_pronouns_tell(run: WholeRun) -> None:
    people = run.report["engine"]["people"]
    told = Counter(pronoun_genders())
    assert told["female"] > 30 < told["male"]
    assert people["gender_told_by_text"] == {"female": told["female"], "male": told["male"], "open": 2 * COUNT - told.total() + told[None]}
    check_balance(people)
    assert people["people"] == 520
    assert set(people["groups"].values()) == {52}


def test_260_students_are_26_in_each_group() -> None:
    documents = [
        Document(number, name, text.replace("<TUTOR>", "your tutor"), f"{name}.txt", None)
        for number, (name, text) in enumerate(transcripts(COUNT))
    ]
    engine = Engine(EngineSettings(seed=SEED), POOLS, Finder())
    report = group_report(engine.assign([engine.scan(documents)]))
    assert report["people"] == COUNT
    assert report["groups"] == dict.fromkeys(report["groups"], 26)  # type: ignore[call-overload]


def test_names_are_of_the_gender_that_the_pronouns_tell(run: WholeRun) -> None:
    looked = 0
    for expected, (_, found, _, record, _) in zip(pronoun_genders(), run.rows(), strict=True):
        for mention, span in zip(found.mentions, record["spans"], strict=True):
            if mention.role == "student" and mention.kind == "person" and expected is not None:
                assert span["text"].casefold() in given_names(expected), (expected, span["text"])
                looked += 1
    assert looked > 150
    assert check_genders(run) >= looked


# E-mail addresses and usernames


@pytest.mark.long
def test_addresses_and_usernames_are_made_of_their_owners_name(source: Path, tmp_path: Path, run: WholeRun) -> None:
    rules = tuple(replace(rule, form="full") if rule.kind == "person" else rule for rule in run.mapping.rules)
    whole = whole_run(SourceSettings(path=source), tmp_path / "out", mapping=replace(run.mapping, rules=rules))
    looked: Counter[str] = Counter()
    for _, found, _, record, _ in whole.rows():
        names = {
            span["value_id"]: span["text"]
            for mention, span in zip(found.mentions, record["spans"], strict=True)
            if mention.kind == "person"
        }
        latest = ""
        for mention, span in zip(found.mentions, record["spans"], strict=True):
            if mention.kind == "person":
                latest = span["value_id"]
            if mention.kind in {"email", "username"}:
                assert span["value_id"] == latest  # the person who was named last
                assert names_person(span["text"], names[latest]), (span["text"], names[latest])
                looked[mention.kind] += 1
    assert looked == {kind: run.report["replaced"]["by_kind"][kind] for kind in ("email", "username")}


def names_person(address: str, name: str) -> bool:
    """Whether an address or a username is made of a given and a family name: one of them whole, the other shortened or whole, a number."""
    letters = re.sub("[^a-z]", "", address.partition("@")[0])
    words = name.split(" ")
    for cut in range(1, len(words)):
        given, family = ascii_letters(" ".join(words[:cut])), ascii_letters(" ".join(words[cut:]))
        for first, second in ((given, family), (family, given)):
            if letters in {first + second, first + second[:1], first[:1] + second, first + second[:3], first[:3] + second}:
                return True
    return False


# Equal bytes


def tree(folder: Path) -> Mapping[str, bytes]:
    """All files with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.long
@pytest.mark.parametrize(("workers", "chunk"), [(2, 1 << 20), (2, 3000), (1, 700)])
def test_the_same_bytes_for_any_workers_and_chunks(source: Path, run: WholeRun, tmp_path: Path, workers: int, chunk: int) -> None:
    factory = EngineFactory(settings=EngineSettings(seed=SEED), mapping=run.mapping)
    inputs = SourceSettings(path=source, chunk_bytes=chunk)
    run_surrogates(inputs, tmp_path / "out", factory, workers=workers)
    assert tree(tmp_path / "out") == tree(run.out)


@pytest.mark.long
def test_another_seed_gives_other_people(source: Path, run: WholeRun, tmp_path: Path) -> None:
    factory = EngineFactory(settings=EngineSettings(seed=SEED + 1), mapping=run.mapping)
    run_surrogates(SourceSettings(path=source), tmp_path / "out", factory)
    first, other = (tree(folder / "mirror") for folder in (run.out, tmp_path / "out"))
    assert first.keys() == other.keys()
    assert sum(first[name] != other[name] for name in first) == COUNT
