// Places shown above the texts without touching them: the selection that waits for its type, a drag under way, what checks mean.

const HINT_NAME = "piiloom-hint"; // editor.css draws it
const MOST_HINTS = 200;

function unitsOfPoints(editor, [start, end]) {
  return [editor.map.toShown(start), editor.map.toShown(end)];
}

/** A DOM range over the points [start, end) of the question or the context. */
function rangeOfField(editor, field, [start, end]) {
  if (field !== "question") return rangeOfUnits(editor, ...unitsOfPoints(editor, [start, end]));
  const node = editor.parts.question.surface.firstChild;
  const range = document.createRange();
  range.setStart(node, editor.questionMap.toShown(start));
  range.setEnd(node, editor.questionMap.toShown(end));
  return range;
}

/** Boxes over `ranges` (pairs of points of the field), in the coordinates of its frame. */
function drawHighlights(editor, kind, ranges, field = "context") {
  for (const name of ["question", "context"]) for (const old of editor.parts[name].overlay.querySelectorAll(`.${kind}`)) old.remove();
  if (!ranges.length) return;
  const { overlay, frame } = editor.parts[field];
  const origin = frame.getBoundingClientRect();
  for (const place of ranges) {
    for (const box of rangeOfField(editor, field, place).getClientRects()) {
      if (box.width < 1) continue;
      const piece = element("div", { className: `highlight ${kind}` });
      Object.assign(piece.style, {
        left: `${box.left - origin.left}px`,
        top: `${box.top - origin.top}px`,
        width: `${box.width}px`,
        height: `${box.height}px`,
      });
      overlay.append(piece);
    }
  }
}

function isBeingTyped(editor, field) {
  return Boolean(editor.typing && editor.typing.field === field);
}

function renderHighlights(editor) {
  const draft = editor.draft && !isBeingTyped(editor, "context") ? [[editor.draft.start, editor.draft.end]] : [];
  const { field = "context", ranges = [] } = editor.pointed || {};
  const shown = isBeingTyped(editor, field) || !standsStill(editor, { field }) ? [] : ranges;
  const key = JSON.stringify([draft, field, shown, editor.drawn.width, editor.pieces.length]);
  if (draft.length || shown.length || editor.drawn.highlights !== key) {
    editor.drawn.highlights = key;
    drawHighlights(editor, "draft", draft);
    drawHighlights(editor, "pointed", shown, field);
  }
  renderHints(editor);
  renderFound(editor);
}

/** The places that checks are about, underlined all the time where the browser can draw that: nobody has to look for them. */
function renderHints(editor) {
  if (!globalThis.Highlight || !CSS.highlights) return;
  const places = shownChecks(editor)
    .filter((check) => check.code !== "span.doubt") // is drawn with the span
    .filter((check) => standsStill(editor, check) && !isBeingTyped(editor, fieldOf(check)))
    .flatMap((check) => (check.ranges || []).map((range) => [fieldOf(check), range]))
    .slice(0, MOST_HINTS);
  const key = JSON.stringify(places);
  if (editor.drawn.hints === key && editor.drawn.hintedPieces === editor.pieces && editor.drawn.hintedQuestion === editor.questionMap) return;
  Object.assign(editor.drawn, { hints: key, hintedPieces: editor.pieces, hintedQuestion: editor.questionMap });
  const ranges = places.map(([field, place]) => new StaticRange(rangeOfField(editor, field, place)));
  CSS.highlights.set(HINT_NAME, new Highlight(...ranges));
}

function forgetHints(editor) {
  editor.drawn.hints = null;
  if (globalThis.Highlight && CSS.highlights) CSS.highlights.delete(HINT_NAME);
}
