// What is being typed into question or context: sent as small text operations while typing, and mirrored in sessionStorage until sent.

const TYPING_PAUSE_MS = 300;

function typingName(editor) {
  return `piiloom-typing:${editor.data.person}`;
}

function shownField(editor, field) {
  return displayOf(editor.model.state.document[field] ?? "").shown;
}

function mirrorTyping(editor) {
  const { field, area, before } = editor.typing;
  try {
    if (area.value === before) editor.storage.removeItem(typingName(editor));
    else editor.storage.setItem(typingName(editor), JSON.stringify({ record: editor.data.record, field, before, after: area.value }));
  } catch {
    flushTyping(editor); // no room for the mirror: send at once instead
  }
}

function typed(editor) {
  mirrorTyping(editor);
  clearTimeout(editor.typing.timer);
  editor.typing.timer = setTimeout(() => flushTyping(editor), TYPING_PAUSE_MS);
}

/** Send what was typed since the last time. While a word is being composed, or an undo is on its way, it waits. */
function flushTyping(editor) {
  const { typing } = editor;
  if (!typing) return;
  clearTimeout(typing.timer);
  if (typing.composing || editor.model.waiting) {
    typing.timer = setTimeout(() => flushTyping(editor), TYPING_PAUSE_MS);
    return;
  }
  const { field, area, before } = typing;
  const stored = editor.model.state.document[field] ?? "";
  const edit = editBetween(stored, before, area.value, area.selectionStart);
  if (!edit) return;
  typing.before = area.value;
  if (!perform(editor, { op: "text", field, ...edit })) keepTyping(editor, area.value);
  mirrorTyping(editor);
}

/** The text was changed by something else than the field (another tab, an undo): put what was typed into the new text if it fits. */
function adoptOutsideChange(editor) {
  const { typing } = editor;
  if (!typing) return;
  const now = shownField(editor, typing.field);
  if (now === typing.before) return;
  const placed = typing.area.value === typing.before ? now : placedTyping(now, typing.before, typing.area.value);
  if (placed === null) keepTyping(editor, typing.area.value);
  const caret = typing.area.selectionStart;
  typing.before = now;
  typing.area.value = placed ?? now;
  typing.area.setSelectionRange(caret, caret);
  if (placed !== null && placed !== now) typed(editor);
}

/** The edit from `before` to `after` done on `now`: at its old place, or moved with the end of the text; null when it does not fit. */
function placedTyping(now, before, after) {
  if (now === before) return after;
  const { at, removed, inserted } = editBetween(before, before, after);
  const start = pointToUtf16(before, at);
  const reach = 12;
  const around = [before.slice(Math.max(0, start - reach), start), before.slice(start + removed.length, start + removed.length + reach)];
  for (const place of [start, start + now.length - before.length]) {
    if (place < 0) continue;
    const fits = now.slice(Math.max(0, place - reach), place) === around[0] && now.startsWith(removed + around[1], place);
    if (fits) return now.slice(0, place) + inserted + now.slice(place + removed.length);
  }
  return null;
}

/** Typing that found no place is not thrown away: the person sees it and can copy it. */
function keepTyping(editor, text) {
  tell(editor, `The text was changed elsewhere. What you had typed could not be put in: ${text}`, "warning");
}

/** After a reload: the last letters typed before it, if they were not sent. */
function restoreTyping(editor) {
  let kept = null;
  try {
    kept = JSON.parse(editor.storage.getItem(typingName(editor)) || "null");
  } catch {
    kept = null;
  }
  if (!kept || kept.record !== editor.data.record || !["question", "context"].includes(kept.field) || !mayEdit(editor)) return;
  if (editor.model.waiting) return;
  editor.storage.removeItem(typingName(editor));
  const now = shownField(editor, kept.field);
  if (kept.after === now || kept.after === kept.before) return;
  const placed = placedTyping(now, kept.before, kept.after);
  if (placed === null) {
    keepTyping(editor, kept.after);
    return;
  }
  const edit = editBetween(editor.model.state.document[kept.field] ?? "", now, placed);
  if (edit) perform(editor, { op: "text", field: kept.field, ...edit }, "What you typed before the reload was kept");
}
