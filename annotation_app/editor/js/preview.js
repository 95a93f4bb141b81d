// What a question-answering system would get: spans of low relevance are replaced by the name of their type.
// Worked out here and not by the server, so that it is in step with each key.

function previewPieces(editor) {
  const { spans } = editor.model.state.document;
  const pieces = [];
  let at = 0;
  for (const span of spans) {
    pieces.push({ text: editor.map.slice(at, span.start) });
    const masked = span.relevance === "low";
    pieces.push({ text: masked ? `[${span.type.toUpperCase()}]` : editor.map.slice(span.start, span.end), masked, kept: !masked });
    at = span.end;
  }
  pieces.push({ text: editor.map.slice(at, editor.map.points) });
  return pieces.filter((piece) => piece.text);
}

function renderPreview(editor) {
  const { preview, buttons } = editor.parts;
  preview.hidden = !editor.previewOpen;
  buttons.preview.setAttribute("aria-pressed", editor.previewOpen ? "true" : "false");
  if (!editor.previewOpen) return;
  const { document: shown } = editor.model.state;
  if (editor.drawn.preview === shown) return;
  editor.drawn.preview = shown;
  const direction = editor.parts.context.surface.dir;
  const text = element("div", { className: "text preview", dir: direction });
  for (const piece of previewPieces(editor)) {
    if (piece.masked) text.append(element("span", { className: "masked", textContent: piece.text, dir: "ltr" }));
    else if (piece.kept) text.append(element("span", { className: "kept", textContent: piece.text, dir: "auto" }));
    else text.append(document.createTextNode(piece.text));
  }
  const question = shown.question === null ? null : element("p", { className: "preview-question", textContent: shown.question, dir: direction });
  const head = element("div", { className: "block-head" }, [
    element("h2", { textContent: "What a system would see" }),
    element("span", { className: "muted", textContent: "low relevance masked: can the question still be answered?" }),
  ]);
  preview.replaceChildren(head, ...(question ? [question] : []), text);
}

function togglePreview(editor) {
  editor.previewOpen = !editor.previewOpen;
  announce(editor, editor.previewOpen ? "Preview shown" : "Preview hidden");
  render(editor);
  if (editor.previewOpen) editor.parts.preview.scrollIntoView({ block: "nearest" });
}
