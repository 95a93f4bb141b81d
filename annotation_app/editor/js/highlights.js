// Places shown above the text without touching it: the selection that waits for its type, a drag under way, what a check means.

/** Boxes over `ranges` (pairs of shown units of the context), in the coordinates of the frame. */
function drawHighlights(editor, kind, ranges) {
  const { overlay, frame } = editor.parts.context;
  for (const old of overlay.querySelectorAll(`.${kind}`)) old.remove();
  if (!ranges.length) return;
  const origin = frame.getBoundingClientRect();
  for (const [start, end] of ranges) {
    for (const box of rangeOfUnits(editor, start, end).getClientRects()) {
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

function unitsOfPoints(editor, [start, end]) {
  return [editor.map.toShown(start), editor.map.toShown(end)];
}

function renderHighlights(editor) {
  const hidden = editor.typing && editor.typing.field === "context";
  const draft = editor.draft && !hidden ? [unitsOfPoints(editor, [editor.draft.start, editor.draft.end])] : [];
  const shown = editor.pointed && !hidden ? editor.pointed.map((range) => unitsOfPoints(editor, range)) : [];
  const key = JSON.stringify([draft, shown, editor.drawn.width, editor.pieces.length]);
  if (!draft.length && !shown.length && editor.drawn.highlights === key) return;
  editor.drawn.highlights = key;
  drawHighlights(editor, "draft", draft);
  drawHighlights(editor, "pointed", shown);
}
