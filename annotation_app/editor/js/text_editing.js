// Editing question and context in a field inside the component. The field shows LF only; what is sent keeps the text's own line ends.

function buildEditing(editor) {
  for (const field of ["question", "context"]) {
    const { area, surface } = editor.parts[field];
    area.addEventListener("input", () => {
      fitArea(area);
      typed(editor);
    });
    area.addEventListener("compositionstart", () => {
      if (editor.typing) editor.typing.composing = true;
    });
    area.addEventListener("compositionend", () => {
      if (editor.typing) editor.typing.composing = false;
    });
    area.addEventListener("blur", () => flushTyping(editor));
    area.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
      event.preventDefault();
      stopEditing(editor);
    });
    surface.addEventListener("dblclick", () => {
      if (field === "question") startEditing(editor, field);
    });
  }
}

function fitArea(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 4}px`;
}

function startEditing(editor, field) {
  if (!mayEdit(editor) || editor.leaving) return;
  if (field === "question" && editor.model.state.document.question === null) {
    tell(editor, "This record has no question.", "info");
    return;
  }
  if (editor.typing) stopEditing(editor);
  const { area, overlay } = editor.parts[field];
  const held = field === "context" ? editor.draft || selectedSpan(editor) : null;
  const box = held && (overlay.querySelector(".draft") || editor.markById.get(held.id))?.getBoundingClientRect();
  dropDraft(editor);
  const before = shownField(editor, field);
  area.value = before;
  editor.typing = { field, area, before, timer: null, composing: false, from: editor.focusIn };
  const inView = box ? box.top > 60 && box.bottom < window.innerHeight - 90 : editor.parts[field].frame.getBoundingClientRect().top > 60;
  const caret = held ? editor.map.toShown(held.end) : field === "context" ? 0 : before.length;
  render(editor);
  fitArea(area);
  area.setSelectionRange(caret, caret);
  area.focus({ preventScroll: inView }); // what is read stays where it is
  announce(editor, `Editing the ${field}. Escape ends.`);
}

function stopEditing(editor) {
  const { typing } = editor;
  if (!typing) return;
  typing.composing = false;
  flushTyping(editor);
  clearTimeout(typing.timer);
  editor.typing = null;
  announce(editor, `Editing of the ${typing.field} ended`);
  render(editor);
  // Back to where the keys for spans work, unless the person was at the question before.
  editor.parts[typing.from === "question" ? "question" : "context"].surface.focus({ preventScroll: true });
}

/** Which of text and field is to be seen. */
function renderEditing(editor) {
  for (const field of ["question", "context"]) {
    const { area, surface, edit, done, block } = editor.parts[field];
    const editing = Boolean(editor.typing && editor.typing.field === field);
    area.hidden = !editing;
    surface.hidden = editing;
    edit.hidden = editing;
    done.hidden = !editing;
    block.classList.toggle("editing", editing);
  }
}
