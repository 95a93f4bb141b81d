// Choosing a type: typing filters, arrows move, Enter chooses. For a new span Shift+Enter chooses it with high relevance.

function pickerMatches(editor, typed) {
  const wanted = typed.trim().toLowerCase().replaceAll("_", " ");
  const names = (editor.data.types || []).map((type) => type.name);
  const ranked = names
    .map((name, order) => ({ name, order, rank: rankOfMatch(readable(name).toLowerCase(), wanted) }))
    .filter((one) => one.rank < 9);
  return ranked.sort((a, b) => a.rank - b.rank || a.order - b.order).map((one) => one.name);
}

/** 0 begins so, 1 a word of it begins so, 2 contains it, 3 has the letters in this order, 9 no match. */
function rankOfMatch(name, wanted) {
  if (!wanted || name.startsWith(wanted)) return 0;
  if (name.includes(` ${wanted}`)) return 1;
  if (name.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = name.indexOf(letter, at) + 1;
    if (!at) return 9;
  }
  return 3;
}

function openPicker(editor) {
  const group = editor.draft ? null : currentGroup(editor);
  const target = editor.draft || group || selectedSpan(editor);
  if (!target || !mayEdit(editor)) return;
  closePicker(editor);
  const fresh = Boolean(editor.draft);
  const input = element("input", {
    className: "picker-input",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "picker-list",
    "aria-autocomplete": "list",
    "aria-label": fresh ? "Type of the new span" : "New type",
    placeholder: "type…",
    autocomplete: "off",
    spellcheck: "false",
    inputmode: editor.pointer === "touch" ? "none" : null, // the keyboard of a tablet would hide the list
  });
  const list = element("ul", { className: "picker-list", id: "picker-list", role: "listbox", "aria-label": "Types" });
  const hint = fresh ? [["Enter", "low"], ["Shift+Enter", "high relevance"], ["Esc", "cancel"]] : [["Enter", "choose"], ["Esc", "cancel"]];
  const foot = element("div", { className: "picker-foot" }, hint.map(([key, text]) => element("span", {}, [element("kbd", { textContent: key }), ` ${text}`])));
  const box = element("div", { className: "picker", role: "dialog", "aria-label": "Choose a type" }, [input, list, foot]);
  editor.picker = { box, input, list, at: 0, names: [], fresh, group, span: fresh || group ? null : target.id };
  input.addEventListener("input", () => fillPicker(editor));
  input.addEventListener("pointerdown", () => input.removeAttribute("inputmode"));
  input.addEventListener("keydown", (event) => pickerKey(editor, event));
  input.addEventListener("blur", () => setTimeout(() => editor.picker?.box === box && document.hasFocus() && cancelPicker(editor, false)));
  editor.parts.floating.replaceChildren(box);
  fillPicker(editor);
  placePicker(editor, target);
  input.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
}

function placePicker(editor, target) {
  const [start, end] = unitsOfPoints(editor, [target.start, target.end]);
  const boxes = rangeOfUnits(editor, start, end).getClientRects();
  const origin = editor.parts.root.getBoundingClientRect();
  const last = boxes[boxes.length - 1] || editor.parts.context.frame.getBoundingClientRect();
  const { box } = editor.picker;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(0, Math.min(last.left - origin.left, origin.width - width - 4));
  const below = last.bottom - origin.top + 6;
  const first = boxes[0] || last;
  const above = first.top - origin.top - height - 6;
  const fits = last.bottom + height + 60 < window.innerHeight || above < 0;
  Object.assign(box.style, { left: `${left}px`, top: `${fits ? below : above}px` });
}

function fillPicker(editor) {
  const { picker } = editor;
  picker.names = pickerMatches(editor, picker.input.value);
  const now = picker.fresh ? null : (picker.group ?? selectedSpan(editor))?.type;
  picker.at = picker.input.value || !now ? 0 : Math.max(0, picker.names.indexOf(now));
  const rows = picker.names.map((name, i) => {
    const swatch = element("span", { className: "swatch plain", "aria-hidden": "true" });
    const row = element("li", { role: "option", id: `picker-${i}`, className: "picker-row" }, [swatch, element("span", { textContent: readable(name) })]);
    row.style.setProperty("--type", colourOfType(editor.data, name));
    row.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    row.addEventListener("click", (event) => choosePicked(editor, name, event.shiftKey));
    return row;
  });
  picker.list.replaceChildren(...(rows.length ? rows : [element("li", { className: "muted", textContent: "no such type" })]));
  markPicked(editor);
}

function markPicked(editor) {
  const { list, at, input, names } = editor.picker;
  [...list.children].forEach((row, i) => {
    if (names.length) row.setAttribute("aria-selected", i === at ? "true" : "false");
  });
  if (names.length) input.setAttribute("aria-activedescendant", `picker-${at}`);
  else input.removeAttribute("aria-activedescendant");
  if (names.length) scrollInside(list, list.children[at]);
}

function pickerKey(editor, event) {
  const { picker } = editor;
  if (event.isComposing) return;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps && picker.names.length) {
    picker.at = (picker.at + steps[event.key] + picker.names.length) % picker.names.length;
    markPicked(editor);
  } else if (event.key === "Enter" || event.key === "Tab") {
    if (picker.names.length) choosePicked(editor, picker.names[picker.at], event.shiftKey && event.key === "Enter");
  } else if (event.key === "Escape") cancelPicker(editor, true);
  else return;
  event.preventDefault();
}

function choosePicked(editor, name, high) {
  const { fresh, span, group } = editor.picker;
  const draft = editor.draft;
  closePicker(editor);
  editor.draft = null;
  if (fresh && draft) addSpan(editor, draft.start, draft.end, name, relevanceOfNew(editor, high));
  else if (group) takeGroupAs(editor, group, name);
  else if (span) changeType(editor, span, name);
}

/** A record whose spans have no relevance at all gets none; else a new span is low unless the person says high. */
function relevanceOfNew(editor, high) {
  const { spans } = editor.model.state.document;
  if (high) return "high";
  return spans.length && spans.every((span) => span.relevance === null) ? null : "low";
}

function takeGroupAs(editor, group, type) {
  if (openGroups(editor).some((other) => other.key === group.key)) takeChanged(editor, group, { type });
  else tell(editor, REFUSALS.no_suggestion, "warning");
}

function changeType(editor, id, name) {
  const span = editor.model.state.document.spans.find((other) => other.id === id);
  editor.selected = id;
  editor.focusSpan = id;
  if (span && span.type !== name) perform(editor, { op: "type", id, type: name }, `${valueOf(editor, span)}: ${readable(name)}`);
  render(editor);
}

function closePicker(editor) {
  if (!editor.picker) return;
  const { box } = editor.picker;
  editor.picker = null;
  box.remove();
}

function cancelPicker(editor, refocus) {
  const { span } = editor.picker;
  closePicker(editor);
  editor.draft = null;
  if (refocus && span) editor.focusSpan = span;
  else if (refocus) editor.parts.context.surface.focus({ preventScroll: true });
  render(editor);
}
