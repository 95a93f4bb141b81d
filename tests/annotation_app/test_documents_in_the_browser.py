"""The JavaScript twins do what Python does: shared cases and random operations, run in Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from document_making import BITS, make_document, make_operation, make_text

from piiloom.annotation_app.documents.document import EditedDocument, Refusal, SpanMark, State, parse_operation
from piiloom.annotation_app.documents.history import apply, is_blank
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import shipped_taxonomy

HERE = Path(__file__).parent
SCRIPTS = HERE.parents[1] / "annotation_app" / "editor" / "js"
OPERATIONS = json.loads((HERE / "vectors" / "operations.json").read_text(encoding="utf-8"))
TEXTS = json.loads((HERE / "vectors" / "texts.json").read_text(encoding="utf-8"))
# A trace of what comes of each operation; one that is refused leaves the state as it is.
HARNESS = """
globalThis.run = ({state, operations, rules}) => operations.map((operation) => {
  const kept = JSON.stringify(state);
  const {state: after, refused} = applyOperation(state, operation, rules);
  if (JSON.stringify(state) !== kept) throw new Error("the state given was changed");
  if (after && after !== state && JSON.stringify(after) === kept) throw new Error("a new object for no change");
  state = after ?? state;
  return refused ?? state;
});
globalThis.twins = {toPoints, pointLength, utf16ToPoint, pointToUtf16, slicePoints, displayOf, editBetween, applyOperation};
"""


@pytest.fixture
def page(browser):
    page = browser.new_page()
    script = "".join(
        (SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ("points", "operations", "suggestion_operations", "text_diff")
    )
    page.add_script_tag(content=f"{{{script}{HARNESS}}}")
    return page


def sequence(state: State, operations: list) -> dict:
    rules = {"types": list(shipped_taxonomy().types), "questionNeeded": not is_blank(state.document.question)}
    return {"state": state.to_json(), "operations": operations, "rules": rules}


def trace(state: State, operations: list) -> list:
    base, found = state.document, []
    for operation in operations:
        try:
            state = apply(state, parse_operation(operation), base, types=shipped_taxonomy().types)
            found.append(state.to_json())
        except Refusal as refusal:
            found.append(refusal.code)
    return found


def test_shared_operations(page):
    # Half a surrogate pair does not get through to the browser; that case is tried below.
    cases = [
        (State.from_json(OPERATIONS["states"][case["state"]]), case["do"]) for case in OPERATIONS["cases"] if "pair" not in case["name"]
    ]
    assert page.evaluate("(all) => all.map(run)", [sequence(*case) for case in cases]) == [trace(*case) for case in cases]
    half = page.evaluate("(given) => run({...given, operations: [{op: 'flag', comment: '\\ud83d'}]})", sequence(cases[0][0], []))
    assert half == ["malformed"]


def test_random_operations(page):
    cases = []
    for number in range(60):
        rng = derive_rng("documents in the browser", number)
        state = State(document=make_document(rng))
        operations, now = [], state
        for _ in range(10):
            operations.append(make_operation(rng, now.document))
            after = trace(now, operations[-1:])[0]
            now = now if isinstance(after, str) else State.from_json(after)
        cases.append((state, operations))
    expected = [trace(*case) for case in cases]
    assert page.evaluate("(all) => all.map(run)", [sequence(*case) for case in cases]) == expected
    assert {step for case in expected for step in case if isinstance(step, str)} >= {"overlap", "empty", "in_doubt", "unknown_type"}


def test_offsets(page):
    for case in TEXTS["points"]:
        script = "([text, point, unit]) => [twins.pointToUtf16(text, point), twins.utf16ToPoint(text, unit)]"
        assert page.evaluate(script, [case["text"], case["point"], case["unit"]]) == [case["unit"], case["point"]]
    rng = derive_rng("offsets in the browser")
    texts = [make_text(rng) for _ in range(100)]
    ranges = [sorted((rng.randint(0, len(text)), rng.randint(0, len(text)))) for text in texts]
    script = """(all) => all.map(([text, [start, end]]) => [
        twins.pointLength(text), twins.toPoints(text), twins.slicePoints(text, start, end),
        twins.toPoints(text).map((_, i) => twins.utf16ToPoint(text, twins.pointToUtf16(text, i)))])"""
    expected = [[len(text), list(text), text[start:end], list(range(len(text)))] for text, (start, end) in zip(texts, ranges, strict=True)]
    assert page.evaluate(script, list(zip(texts, ranges, strict=True))) == expected


def shown(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def test_shared_displays_and_edits(page):
    script = """({stored, to_stored}) => {
        const {shown, toStored, toShown} = twins.displayOf(stored);
        return {stored, shown, to_stored: to_stored.map((_, i) => toStored(i)), back: to_stored.map((at) => toShown(at))}; }"""
    for case in TEXTS["displays"]:
        assert page.evaluate(script, case) == case | {"back": list(range(len(case["to_stored"])))}
    script = "({stored, before, after, caret}) => twins.editBetween(stored, before, after, caret ?? null)"
    for case in TEXTS["edits"]:
        assert page.evaluate(script, case | {"before": shown(case["stored"])}) == case["edit"], case["name"]


def test_random_edits_of_what_is_shown(page):
    # Whatever is done in the field: the edit applies to the stored text, and that is then shown as the field has it.
    rng = derive_rng("edits in the browser")
    cases = []
    for _ in range(400):
        stored = make_text(rng)
        before = shown(stored)
        start, end = sorted((rng.randint(0, len(before)), rng.randint(0, len(before))))
        typed = shown("".join(rng.choices([*BITS, ""], k=rng.randint(0, 2))))
        after = f"{before[:start]}{typed}{before[end:]}"
        caret = rng.choice([None, len(f"{before[:start]}{typed}".encode("utf-16-le")) // 2, rng.randint(0, 9)])
        cases.append([stored, before, after, caret])
    edits = page.evaluate("(all) => all.map((one) => twins.editBetween(...one))", cases)
    for (stored, before, after, _), edit in zip(cases, edits, strict=True):
        assert (edit is None) == (before == after)
        if edit is None:
            continue
        at, removed = edit["at"], edit["removed"]
        assert stored[at : at + len(removed)] == removed
        result = f"{stored[:at]}{edit['inserted']}{stored[at + len(removed) :]}"
        assert shown(result) == after
        assert not any(ord(c) in range(0xD800, 0xE000) for c in removed + edit["inserted"])


def test_an_edit_of_a_long_record_makes_anew_only_the_spans_that_it_changes(page):
    rng = derive_rng("a long record")
    context = " ".join(rng.choices(["word", "another", "👩‍🚀", "Ann"], k=20_000))
    step = len(context) // 200
    marks = tuple(SpanMark(id=f"s{i}", start=i * step, end=i * step + 4, entity_type="age") for i in range(200))
    script = """(state) => {
        const {context, spans} = state.document;
        const {start, end} = spans[100];
        const anew = (operation) => {
          const after = twins.applyOperation(state, operation).state.document.spans;
          return after.filter((span) => !spans.includes(span)).length;
        };
        const [one, two] = [context.slice(0, context.length >> 1), context.slice(context.length >> 1)];
        return {
          first: anew({op: "text", field: "context", at: 0, removed: "", inserted: "x"}),
          middle: anew({op: "text", field: "context", at: start, removed: "", inserted: "x"}),
          move: anew({op: "move", id: "s100", start, end: end + 1}),
          edit: twins.editBetween(context, context, `${one} x${two}`).inserted,
        }; }"""
    found = page.evaluate(script, State(document=EditedDocument(context=context, marks=marks)).to_json())
    assert found == {"first": 200, "middle": 100, "move": 1, "edit": " x"}
