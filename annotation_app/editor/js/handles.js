// The two handles at the ends of the selected span: dragging one moves that end, by words, or by graphemes while Alt is held.

const HANDLE_GAP = 1.5; // beside its letter, not upon it

function buildHandles(editor) {
  const { frame } = editor.parts.context;
  editor.handles = {};
  for (const side of ["start", "end"]) {
    const handle = element("div", { className: `handle ${side}`, hidden: true, "aria-hidden": "true", title: "Drag to move this end (Alt: exact)" });
    handle.addEventListener("pointerdown", (event) => beginDrag(editor, side, event));
    frame.append(handle);
    editor.handles[side] = handle;
  }
}

function caretBox(editor, unit, closing) {
  const { shown } = editor.map;
  const from = closing ? boundaryBefore(shown, unit, "grapheme", editor.data.locale) : unit;
  const to = closing ? unit : boundaryAfter(shown, unit, "grapheme", editor.data.locale);
  const boxes = rangeOfUnits(editor, from, to).getClientRects();
  const box = boxes[closing ? boxes.length - 1 : 0];
  if (!box) return null;
  // On which side of its character the end stands depends on the direction of the character, not of the paragraph.
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(shown[from] || "");
  const onTheLeft = rightToLeft === closing;
  return { x: onTheLeft ? box.left - HANDLE_GAP : box.right + HANDLE_GAP, top: box.top, height: box.height };
}

function renderHandles(editor) {
  const span = mayEdit(editor) && !editor.typing ? selectedSpan(editor) : null;
  const { frame } = editor.parts.context;
  const boxes = span && {
    start: caretBox(editor, editor.map.toShown(span.start), false),
    end: caretBox(editor, editor.map.toShown(span.end), true),
  };
  const origin = boxes && frame.getBoundingClientRect();
  for (const side of ["start", "end"]) {
    const handle = editor.handles[side];
    handle.hidden = !boxes || !boxes[side];
    if (handle.hidden) continue;
    const { x, top, height } = boxes[side];
    Object.assign(handle.style, { left: `${x - origin.left}px`, top: `${top - origin.top}px`, height: `${height}px` });
  }
}

/** The shown unit under the pointer, or null beside the text. */
function unitAtPointer(editor, x, y) {
  if (document.caretPositionFromPoint) {
    const place = document.caretPositionFromPoint(x, y, { shadowRoots: [editor.shadow] });
    const unit = place && unitOfPlace(editor, place.offsetNode, place.offset);
    if (unit !== null && unit !== undefined) return unit;
  }
  const range = document.caretRangeFromPoint && document.caretRangeFromPoint(x, y);
  return range ? unitOfPlace(editor, range.startContainer, range.startOffset) : null;
}

function nearestBoundary(editor, unit, exact) {
  const { shown } = editor.map;
  if (unit <= 0 || unit >= shown.length) return Math.max(0, Math.min(unit, shown.length));
  const found = segmentAround(shown, unit, exact ? "grapheme" : "word", editor.data.locale);
  const [from, to] = [found.index, found.index + found.segment.length];
  return unit - from <= to - unit ? from : to;
}

/** [start, end] in points when `side` of the span is pulled to `unit`; neighbours are not run over. */
function pulledTo(editor, span, side, unit, exact) {
  const spans = editor.model.state.document.spans;
  const at = spans.findIndex((other) => other.id === span.id);
  const point = editor.map.toPoint(nearestBoundary(editor, unit, exact));
  if (side === "start") return [Math.max(spans[at - 1]?.end ?? 0, Math.min(point, span.end - 1)), span.end];
  return [span.start, Math.min(spans[at + 1]?.start ?? editor.map.points, Math.max(point, span.start + 1))];
}

function withoutBlanks(editor, [start, end]) {
  const { shown } = editor.map;
  let [from, to] = unitsOfPoints(editor, [start, end]);
  while (from < to - 1 && /\s/.test(shown[from])) from += 1;
  while (to > from + 1 && /\s/.test(shown[to - 1])) to -= 1;
  return [editor.map.toPoint(from), editor.map.toPoint(to)];
}

/** How far a finger is from the end that it pulls: it covers the handle, or holds it by its foot. */
function gripOf(editor, side, down) {
  if (down.pointerType !== "touch") return { x: 0, y: 0 };
  const box = editor.handles[side].getBoundingClientRect();
  return { x: down.clientX - (box.left + box.right) / 2, y: down.clientY - (box.top + box.bottom) / 2 };
}

function beginDrag(editor, side, down) {
  const span = selectedSpan(editor);
  if (!span || down.button !== 0) return;
  down.preventDefault();
  let target = [span.start, span.end];
  const grip = gripOf(editor, side, down);
  const move = (event) => {
    const unit = unitAtPointer(editor, event.clientX - grip.x, event.clientY - grip.y);
    if (unit === null) return;
    const pulled = pulledTo(editor, span, side, unit, event.altKey);
    target = event.altKey ? pulled : withoutBlanks(editor, pulled);
    drawHighlights(editor, "dragged", [target]);
  };
  const end = (event) => {
    for (const [name, act] of listeners) window.removeEventListener(name, act, true);
    editor.parts.root.classList.remove("dragging");
    drawHighlights(editor, "dragged", []);
    editor.endDrag = null;
    if (event && event.type === "pointerup") {
      editor.focusSpan = span.id;
      moveSpan(editor, span, ...target);
      render(editor);
    }
  };
  const listeners = [["pointermove", move], ["pointerup", end], ["pointercancel", end]];
  for (const [name, act] of listeners) window.addEventListener(name, act, true);
  editor.parts.root.classList.add("dragging");
  editor.endDrag = end;
}
