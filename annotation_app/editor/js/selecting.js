// From a selection in the text, or from keys alone, to a new span: the draft, which becomes a span once it has a type.

/** [startNode, startOffset, endNode, endOffset] selected inside the shadow root, or null. */
function selectedPlaces(shadow) {
  const selection = (shadow.getSelection && shadow.getSelection()) || document.getSelection();
  if (!selection) return null;
  let range = selection.rangeCount ? selection.getRangeAt(0) : null;
  if (!shadow.getSelection && selection.getComposedRanges) range = selection.getComposedRanges({ shadowRoots: [shadow] })[0] || range;
  if (!range || (range.startContainer === range.endContainer && range.startOffset === range.endOffset)) return null;
  return [range.startContainer, range.startOffset, range.endContainer, range.endOffset];
}

function selectedUnits(editor) {
  const places = selectedPlaces(editor.shadow);
  if (!places) return null;
  const start = unitOfPlace(editor, places[0], places[1]);
  const end = unitOfPlace(editor, places[2], places[3]);
  if (start === null && end === null) return null;
  return [start ?? 0, end ?? editor.map.shown.length];
}

function clearSelection(editor) {
  const selection = (editor.shadow.getSelection && editor.shadow.getSelection()) || document.getSelection();
  if (selection) selection.removeAllRanges();
}

function listenToSelecting(editor) {
  const { surface } = editor.parts.context;
  surface.addEventListener("pointerdown", (event) => {
    editor.pressedInText = true;
    editor.pointer = event.pointerType;
  });
  surface.addEventListener("pointercancel", () => {
    editor.pressedInText = false; // a finger that scrolls, or selects by a long press
  });
  editor.onPointerUp = (event) => {
    if (!editor.pressedInText) return;
    editor.pressedInText = false;
    editor.press = { target: event.composedPath()[0], exact: event.altKey, x: event.clientX, y: event.clientY };
    setTimeout(() => settlePress(editor)); // a click on an old selection clears it only after this event
  };
  window.addEventListener("pointerup", editor.onPointerUp, true);
  surface.addEventListener("focusin", (event) => {
    const id = event.target.dataset && event.target.dataset.id;
    if (id && id !== editor.selected && !editor.pressedInText) selectSpan(editor, id, false);
  });
}

/** See to the last press; a key that follows at once must not come before it, nor the first half of a double click count. */
function settlePress(editor) {
  const { press } = editor;
  editor.press = null;
  if (press && editor.attached && !editor.pressedInText) afterPress(editor, press);
}

function afterPress(editor, { target, exact, x, y }) {
  const units = selectedUnits(editor);
  if (units && editor.pointer === "touch") return; // it may still be pulled about: see touching.js
  if (!units) {
    const mark = target.closest && target.closest("mark.span");
    const group = mark ? null : groupAt(editor, x, y);
    dropDraft(editor);
    if (group) selectGroup(editor, group);
    else if (mark) selectSpan(editor, mark.dataset.id);
    else if (editor.selected || editor.ghost !== null) selectSpan(editor, null);
    else render(editor);
    return;
  }
  clearSelection(editor);
  proposeUnits(editor, units, exact);
}

/** Make the selection a draft and ask for its type; inside a span it only selects that span. */
function proposeUnits(editor, units, exact) {
  if (draftUnits(editor, units, exact)) openPicker(editor);
}

/** True when there is a draft now. */
function draftUnits(editor, [start, end], exact) {
  if (!mayEdit(editor)) return false;
  const { shown } = editor.map;
  const snap = exact ? snappedToGraphemes : snappedToWords;
  const snapped = snap(shown, start, end, editor.data.locale);
  if (!snapped) return false;
  const spans = editor.model.state.document.spans;
  const raw = exact ? snapped : trimmedUnits(shown, start, end);
  const [from, to] = raw.map(editor.map.toPoint);
  const hit = spans.find((span) => span.start < to && from < span.end);
  if (hit) {
    selectSpan(editor, hit.id);
    if (from < hit.start || to > hit.end) tell(editor, `${REFUSALS.overlap} (${readable(hit.type)}: ${valueOf(editor, hit)})`, "warning");
    return false;
  }
  const [wide, far] = snapped.map(editor.map.toPoint);
  // Growing to whole words stops where another span begins or ends.
  const left = Math.max(wide, ...spans.filter((span) => span.end <= from).map((span) => span.end));
  const right = Math.min(far, ...spans.filter((span) => span.start >= to).map((span) => span.start));
  setDraft(editor, left, right);
  return true;
}

function trimmedUnits(text, start, end) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  return [start, end];
}

function setDraft(editor, start, end) {
  [editor.selected, editor.ghost] = [null, null];
  editor.draft = { start, end };
  editor.notice = null;
  announce(editor, `Selected: ${shortened(editor.map.slice(start, end))}`);
  render(editor);
}

function dropDraft(editor) {
  editor.draft = null;
  closePicker(editor);
}

/** The next word outside all spans, from shown unit `from` on; backwards when `step` is -1. */
function freeWord(editor, from, step) {
  const { shown } = editor.map;
  const spans = editor.model.state.document.spans;
  let at = from;
  while (step > 0 ? at < shown.length : at > 0) {
    const found = segmentAround(shown, step > 0 ? at : at - 1, "word", editor.data.locale);
    const [start, end] = [found.index, found.index + found.segment.length];
    const [s, e] = [editor.map.toPoint(start), editor.map.toPoint(end)];
    if (found.isWordLike && !spans.some((span) => span.start < e && s < span.end)) return [s, e];
    at = step > 0 ? end : start;
  }
  return null;
}

/** `n`: a draft without a mouse, on the next free word behind the selected span or the draft before. */
function beginDraft(editor) {
  if (!mayEdit(editor)) return;
  const span = selectedSpan(editor);
  const from = span ? editor.map.toShown(span.end) : editor.draft ? editor.map.toShown(editor.draft.end) : 0;
  const word = freeWord(editor, from, 1) || freeWord(editor, 0, 1);
  if (!word) tell(editor, "There is no free word left.", "info");
  else moveDraft(editor, word);
}

function moveDraft(editor, [start, end]) {
  setDraft(editor, start, end);
  showDraft(editor);
}

function showDraft(editor) {
  const surface = editor.parts.context.surface;
  if (editor.shadow.activeElement !== surface) surface.focus({ preventScroll: true });
  editor.parts.context.overlay.querySelector(".draft")?.scrollIntoView({ block: "nearest" });
}

function stepDraft(editor, words) {
  let word = null;
  let { start, end } = editor.draft;
  for (let i = 0; i < Math.abs(words); i += 1) {
    const next = freeWord(editor, editor.map.toShown(words > 0 ? end : start), Math.sign(words));
    if (!next) break;
    word = next;
    [start, end] = next;
  }
  if (word) moveDraft(editor, word);
}

function stretchDraft(editor, end, forward, exact) {
  const { shown } = editor.map;
  const [unit, locale] = [exact ? "grapheme" : "word", editor.data.locale];
  const from = editor.map.toShown(end ? editor.draft.end : editor.draft.start);
  const to = end ? (forward ? boundaryAfter : endBefore)(shown, from, unit, locale) : (forward ? startAfter : boundaryBefore)(shown, from, unit, locale);
  const [s, e] = end ? [editor.draft.start, editor.map.toPoint(to)] : [editor.map.toPoint(to), editor.draft.end];
  if (s >= e) return;
  if (editor.model.state.document.spans.some((span) => span.start < e && s < span.end)) tell(editor, REFUSALS.overlap, "warning");
  else setDraft(editor, s, e);
}
