// The spans in text order, never sorted by relevance: the order would give the label away.

function renderSpanList(editor) {
  const { spans } = editor.model.state.document;
  const { body, count } = editor.parts.spans;
  const editable = mayEdit(editor);
  const drawn = editor.drawn.list;
  if (!drawn || drawn.spans !== spans || drawn.editable !== editable || drawn.types !== editor.typesKey || drawn.commented !== editor.commentedKey) {
    setText(count, String(spans.length));
    const reuse = drawn && drawn.editable === editable && drawn.types === editor.typesKey;
    drawRows(editor, spans, editable, reuse ? editor.rowById : new Map());
  }
  if (drawn?.selected !== editor.selected || drawn?.spans !== spans) {
    if (drawn?.selected !== editor.selected) editor.rowById.get(drawn?.selected)?.classList.remove("selected");
    const row = editor.rowById.get(editor.selected);
    if (row && !row.classList.contains("selected")) {
      row.classList.add("selected");
      scrollInside(body, row);
    }
  }
  editor.drawn.list = { spans, editable, types: editor.typesKey, commented: editor.commentedKey, selected: editor.selected };
}

/** Rows that say the same as before stay as they are: with 200 spans, one edit makes one new row. */
function drawRows(editor, spans, editable, old) {
  const list = editor.parts.spans.list;
  const held = editor.shadow.activeElement;
  const focused = { row: held?.closest?.("[data-row]")?.dataset.row, act: held?.dataset?.act };
  const rows = spans.map((span) => {
    const key = JSON.stringify([span.type, span.relevance, span.doubt, commentsOn(editor, span), valueOf(editor, span)]);
    const before = old.get(span.id);
    if (before && before.drawnKey === key) return before;
    const row = rowOf(editor, span, editable);
    row.drawnKey = key;
    return row;
  });
  const kept = new Set(rows);
  for (const row of [...list.children]) if (!kept.has(row)) row.remove();
  rows.forEach((row, i) => {
    if (list.children[i] !== row) list.insertBefore(row, list.children[i] ?? null);
  });
  editor.rowById = new Map(rows.map((row) => [row.dataset.row, row]));
  editor.parts.spans.none.hidden = rows.length > 0;
  if (focused.act && !held.isConnected) editor.rowById.get(focused.row)?.querySelector(`[data-act="${focused.act}"]`)?.focus({ preventScroll: true });
}

/** Scroll the list only, never the page. */
function scrollInside(box, row) {
  const [outer, inner] = [box.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

function rowOf(editor, span, editable) {
  const words = spokenRelevance(span.relevance);
  const value = element("span", { className: "value", textContent: valueOf(editor, span), dir: "auto" });
  const type = element("span", { className: "type", textContent: readable(span.type) });
  const swatch = element("span", { className: `swatch ${words}`, "aria-hidden": "true" });
  const choose = element(
    "button",
    { type: "button", className: "choose", "data-act": "choose", onclick: () => chooseRow(editor, span.id) },
    [swatch, value, type, element("span", { className: "unseen", textContent: `, ${words} relevance${span.doubt ? ", to be confirmed" : ""}` })],
  );
  const current = (act) => () => {
    const now = editor.model.state.document.spans.find((other) => other.id === span.id);
    if (now) act(now);
  };
  const relevance = element("button", {
    type: "button",
    className: `relevance ${words}`,
    "data-act": "relevance",
    textContent: words,
    disabled: !editable,
    title: "Relevance (r)",
    "aria-label": `Relevance ${words}: change`,
    onclick: current((now) => toggleRelevance(editor, now)),
  });
  const acts = !editable ? [] : [
    span.doubt ? keyedButton("Confirm", "c", current((now) => confirmSpan(editor, now)), { className: "small", "data-act": "confirm" }) : null,
    keyedButton("Type", "t", current((now) => retype(editor, now)), { className: "small quiet", "data-act": "type" }),
    keyedButton("Remove", "Del", current((now) => removeSpan(editor, now)), { className: "small quiet", "data-act": "remove" }),
  ];
  const note = span.doubt ? element("span", { className: "doubt-note", textContent: "text changed" }) : null;
  const comments = commentsOn(editor, span);
  const said = comments ? element("span", { className: "comments-note", textContent: comments === 1 ? "1 comment" : `${comments} comments` }) : null;
  const row = element("li", { className: `row ${span.doubt ? "doubt" : ""}`, "data-row": span.id }, [
    element("div", { className: "row-line" }, [choose, note, said, relevance]),
    element("div", { className: "row-acts" }, acts),
  ]);
  row.style.setProperty("--type", colourOfType(editor.data, span.type));
  return row;
}

function commentsOn(editor, span) {
  return editor.data.commented?.[span.id] || 0;
}

function chooseRow(editor, id) {
  dropDraft(editor);
  selectSpan(editor, id, false);
  editor.markById.get(id)?.scrollIntoView({ block: "nearest" });
}

function confirmSpan(editor, span) {
  perform(editor, { op: "confirm", id: span.id }, `Confirmed: ${valueOf(editor, span)}`);
}

function retype(editor, span) {
  [editor.selected, editor.ghost] = [span.id, null];
  render(editor);
  openPicker(editor);
}
