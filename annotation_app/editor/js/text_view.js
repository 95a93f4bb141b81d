// The context with its spans. Children of the surface are text nodes and marks that hold one text node each: type labels are
// drawn by CSS, so that ranges of the DOM count nothing but the text.

function spanKey(span, text) {
  return JSON.stringify(["span", span.id, span.type, span.relevance, Boolean(span.doubt), text]);
}

function pieceOfText(text, start) {
  return { key: `text ${text}`, start, length: text.length, make: () => document.createTextNode(text) };
}

function pieceOfSpan(editor, span, text, start) {
  return { key: spanKey(span, text), start, length: text.length, span, text, make: () => markOf(editor, span, text), redraw: (mark) => drawMark(editor, mark, span, text) };
}

function markOf(editor, span, text) {
  // dir isolates: a Latin name in Hebrew keeps its label at its side, and none of the two moves the words around it.
  const mark = element("mark", { role: "button", tabIndex: -1, dir: "auto", "data-id": span.id }, [document.createTextNode(text)]);
  drawMark(editor, mark, span, text);
  return mark;
}

function drawMark(editor, mark, span, text) {
  const [type, relevance] = [readable(span.type), spokenRelevance(span.relevance)];
  const selected = mark.classList.contains("selected") ? " selected" : "";
  mark.className = `span ${relevance}${span.doubt ? " doubt" : ""}${selected}`;
  mark.dataset.label = span.doubt ? `${type} ?` : type;
  mark.setAttribute("aria-label", `${text}, ${type}, ${relevance} relevance${span.doubt ? ", to be confirmed" : ""}`);
  mark.style.setProperty("--type", colourOfType(editor.data, span.type));
}

function piecesOf(editor, map, spans) {
  const pieces = [];
  let at = 0;
  for (const span of spans) {
    const [start, end] = [map.toShown(span.start), map.toShown(span.end)];
    if (start > at) pieces.push(pieceOfText(map.shown.slice(at, start), at));
    pieces.push(pieceOfSpan(editor, span, map.shown.slice(start, end), start));
    at = end;
  }
  if (at < map.shown.length) pieces.push(pieceOfText(map.shown.slice(at), at));
  return pieces;
}

/** Put `pieces` into the surface, touching only the children that differ: one changed span costs one changed node. */
function patchSurface(surface, before, pieces) {
  let head = 0;
  while (head < before.length && head < pieces.length && before[head].key === pieces[head].key) head += 1;
  let tail = 0;
  const most = Math.min(before.length, pieces.length) - head;
  while (tail < most && before[before.length - 1 - tail].key === pieces[pieces.length - 1 - tail].key) tail += 1;
  for (let i = 0; i < head; i += 1) pieces[i].node = before[i].node;
  for (let i = 1; i <= tail; i += 1) pieces[pieces.length - i].node = before[before.length - i].node;
  const middle = pieces.slice(head, pieces.length - tail);
  if (before.length === pieces.length && middle.every((piece, i) => onlyLooksDiffer(before[head + i], piece))) {
    // The text stays where it is: a long one need not be laid out anew.
    middle.forEach((piece, i) => {
      piece.node = before[head + i].node;
      if (piece.key !== before[head + i].key) piece.redraw(piece.node);
    });
    return pieces;
  }
  for (let i = head; i < before.length - tail; i += 1) before[i].node.remove();
  const anchor = tail ? pieces[pieces.length - tail].node : null;
  for (let i = head; i < pieces.length - tail; i += 1) {
    pieces[i].node = pieces[i].make();
    surface.insertBefore(pieces[i].node, anchor);
  }
  return pieces;
}

function onlyLooksDiffer(old, piece) {
  if (old.key === piece.key) return true;
  return Boolean(old.span && piece.span && old.span.id === piece.span.id && old.text === piece.text);
}

function renderContext(editor) {
  const { surface } = editor.parts.context;
  const { context, spans } = editor.model.state.document;
  if (editor.drawn.context !== context) editor.map = textMap(context);
  if (editor.drawn.context !== context || editor.drawn.spans !== spans || editor.drawn.types !== editor.typesKey) {
    const before = editor.drawn.types === editor.typesKey ? editor.pieces : [];
    const held = heldMark(editor);
    if (!before.length) surface.replaceChildren();
    editor.pieces = patchSurface(surface, before, piecesOf(editor, editor.map, spans));
    editor.pieceByNode = new Map(editor.pieces.flatMap((piece) => (piece.span ? [[piece.node, piece], [piece.node.firstChild, piece]] : [[piece.node, piece]])));
    editor.markById = new Map(editor.pieces.filter((piece) => piece.span).map((piece) => [piece.span.id, piece.node]));
    Object.assign(editor.drawn, { context, spans, types: editor.typesKey });
    if (held && !held.isConnected) editor.focusSpan ??= held.dataset.id; // made anew: the focus stays with the span
  }
  if (editor.selected && !editor.markById.has(editor.selected)) editor.selected = null;
  renderSelected(editor);
}

/** The mark of the selected span, if it has the focus. */
function heldMark(editor) {
  const held = editor.shadow.activeElement;
  return held && held === editor.markById.get(editor.selected) ? held : null;
}

/** Exactly one mark can be reached by Tab from outside: the selected one, else the first. */
function renderSelected(editor) {
  const reachable = editor.selected || editor.model.state.document.spans[0]?.id || null;
  if (editor.drawn.reachable !== reachable || editor.drawn.selected !== editor.selected) {
    const old = [editor.drawn.reachable, editor.drawn.selected].map((id) => editor.markById.get(id));
    for (const mark of old) if (mark) dressMark(mark, false, false);
  }
  const mark = editor.markById.get(reachable);
  if (mark) dressMark(mark, true, reachable === editor.selected);
  Object.assign(editor.drawn, { reachable, selected: editor.selected });
  if (editor.focusSpan) {
    const target = editor.markById.get(editor.focusSpan);
    editor.focusSpan = null;
    if (target && target !== editor.shadow.activeElement) target.focus({ preventScroll: true });
    if (target) target.scrollIntoView({ block: "nearest" });
  }
}

/** Writes only what differs: the browser lays the text out anew when the tab index of what has the focus is written. */
function dressMark(mark, reachable, selected) {
  const tabIndex = reachable ? 0 : -1;
  if (mark.tabIndex !== tabIndex) mark.tabIndex = tabIndex;
  mark.classList.toggle("selected", selected);
  if (selected === mark.hasAttribute("aria-current")) return;
  if (selected) mark.setAttribute("aria-current", "true");
  else mark.removeAttribute("aria-current");
}

/** The shown unit that a place in the DOM means; null outside the context. */
function unitOfPlace(editor, node, offset) {
  const { surface } = editor.parts.context;
  if (node === surface) {
    const piece = editor.pieces[offset];
    return piece ? piece.start : editor.map.shown.length;
  }
  const piece = editor.pieceByNode.get(node);
  if (!piece) return null;
  if (node.nodeType === Node.TEXT_NODE) return piece.start + Math.min(offset, piece.length);
  return piece.start + (offset > 0 ? piece.length : 0);
}

/** A DOM range over shown units [start, end) of the context. */
function rangeOfUnits(editor, start, end) {
  const range = document.createRange();
  const place = (unit, closing) => {
    const found = editor.pieces.find((piece) => (closing ? unit <= piece.start + piece.length : unit < piece.start + piece.length)) || editor.pieces.at(-1);
    if (!found) return [editor.parts.context.surface, 0];
    return [found.span ? found.node.firstChild : found.node, Math.min(Math.max(unit - found.start, 0), found.length)];
  };
  range.setStart(...place(start, false));
  range.setEnd(...place(end, true));
  return range;
}

function renderQuestion(editor) {
  const { question } = editor.model.state.document;
  const { surface, block, edit } = editor.parts.question;
  if (editor.drawn.question !== question || !editor.questionMap) {
    editor.drawn.question = question;
    editor.questionMap = textMap(question ?? "");
  }
  block.classList.toggle("absent", question === null);
  edit.disabled = question === null || !mayEdit(editor);
  editor.parts.context.edit.disabled = !mayEdit(editor);
  if (question === null) setText(surface, "This record has no question.");
  else setText(surface, question.trim() ? editor.questionMap.shown : "(empty)");
  surface.classList.toggle("muted", question === null || !question.trim());
}

function renderDirection(editor) {
  const direction = ["ltr", "rtl"].includes(editor.data.direction) ? editor.data.direction : "auto";
  if (editor.drawn.direction === direction) return;
  editor.drawn.direction = direction;
  for (const name of ["question", "context"]) {
    editor.parts[name].surface.dir = direction;
    editor.parts[name].area.dir = direction;
  }
}
