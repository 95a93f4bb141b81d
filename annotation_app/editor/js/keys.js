// One table of keys: it decides what a key does and it is what the help shows.

const KEYS = [
  { keys: ["a"], shown: "a", group: "Record", help: "accept and go on", act: (editor) => accept(editor) },
  { keys: ["x"], shown: "x", group: "Record", help: "reject with a reason", act: (editor) => openReject(editor) },
  { keys: ["f"], shown: "f", group: "Record", help: "flag with a comment", act: (editor) => openFlag(editor) },
  { keys: ["j"], shown: "j", group: "Record", help: "next record", act: (editor) => go(editor, "next") },
  { keys: ["k"], shown: "k", group: "Record", help: "previous record", act: (editor) => go(editor, "previous") },
  { keys: ["s"], shown: "s", group: "Record", help: "skip for now", act: (editor) => editor.data.mode === "annotate" && go(editor, "skip") },
  { keys: ["l"], shown: "l", group: "Record", help: "back to the work list", act: (editor) => go(editor, "list") },
  { keys: ["u"], shown: "u", group: "Record", help: "undo", act: (editor) => perform(editor, { op: "undo" }, "Undone") },
  { keys: ["Shift+u"], shown: "U", group: "Record", help: "redo", act: (editor) => perform(editor, { op: "redo" }, "Done again") },

  { keys: ["Tab"], shown: "Tab", group: "Spans", help: "select the next span", act: (editor) => stepSelection(editor, 1) },
  { keys: ["Shift+Tab"], shown: "Shift+Tab", group: "Spans", help: "select the span before", act: (editor) => stepSelection(editor, -1) },
  { keys: ["t", "Enter"], shown: "t Enter", group: "Spans", help: "choose its type: type a few letters, Enter", act: (editor, event) => pickType(editor, event) },
  { keys: ["r"], shown: "r", group: "Spans", help: "relevance high or low", act: (editor) => withSelected(editor, (span) => toggleRelevance(editor, span)) },
  { keys: ["Delete", "Backspace"], shown: "Del", group: "Spans", help: "remove it", act: (editor) => withSelected(editor, (span) => removeSpan(editor, span)) },
  { keys: ["c"], shown: "c", group: "Spans", help: "confirm it after its text changed", act: (editor) => withSelected(editor, (span) => confirmSpan(editor, span)) },
  { keys: ["]"], shown: "]", group: "Spans", help: "its end one word further", act: (editor, event) => stretch(editor, true, true, event) },
  { keys: ["["], shown: "[", group: "Spans", help: "its end one word back", act: (editor, event) => stretch(editor, true, false, event) },
  { keys: ["{", "Shift+["], shown: "{", group: "Spans", help: "its start one word back", act: (editor, event) => stretch(editor, false, false, event) },
  { keys: ["}", "Shift+]"], shown: "}", group: "Spans", help: "its start one word further", act: (editor, event) => stretch(editor, false, true, event) },
  { keys: [], shown: "Alt+[ … }", group: "Spans", help: "the same by one character" },

  { keys: ["g"], shown: "g", group: "Suggestions", help: "select the next suggestion", act: (editor) => stepGroup(editor, 1) },
  { keys: ["Shift+g"], shown: "G", group: "Suggestions", help: "select the one before", act: (editor) => stepGroup(editor, -1) },
  { keys: ["y"], shown: "y", group: "Suggestions", help: "accept it, and select the next", act: (editor) => withGroup(editor, (group) => acceptGroup(editor, group)) },
  { keys: ["d"], shown: "d", group: "Suggestions", help: "refuse it, and select the next", act: (editor) => withGroup(editor, (group) => refuseGroup(editor, group)) },
  { keys: ["Shift+y"], shown: "Y", group: "Suggestions", help: "accept all from a score on", act: (editor) => openAcceptAll(editor) },
  { keys: [], shown: "t [ ] { }", group: "Suggestions", help: "accept it with another type, with other ends" },

  { keys: ["n"], shown: "n", group: "New span", help: "begin on the next free word", act: (editor) => beginDraft(editor) },
  { keys: ["ArrowRight"], shown: "→ ←", group: "New span", help: "the next or previous free word", draft: true, act: (editor) => stepDraft(editor, forwardKeys(editor) ? 1 : -1) },
  { keys: ["ArrowLeft"], draft: true, act: (editor) => stepDraft(editor, forwardKeys(editor) ? -1 : 1) },
  { keys: ["ArrowDown"], shown: "↓ ↑", group: "New span", help: "ten words on or back", draft: true, act: (editor) => stepDraft(editor, 10) },
  { keys: ["ArrowUp"], draft: true, act: (editor) => stepDraft(editor, -10) },
  { keys: ["/"], shown: "/", group: "New span", help: "find letters: ↓ ↑ other places, Enter begins a span there (Alt: exactly)", act: (editor) => openFinding(editor) },
  { keys: [], shown: "Enter Shift+Enter", group: "New span", help: "in the list of types: low or high relevance" },
  { keys: [], shown: "mouse", group: "New span", help: "select text; Alt for exact ends" },

  { keys: ["e"], shown: "e", group: "Text", help: "edit the context (the question, if it has the focus)", act: (editor) => startEditing(editor, editor.focusIn === "question" ? "question" : "context") },
  { keys: ["Shift+e"], shown: "E", group: "Text", help: "edit the question", act: (editor) => startEditing(editor, "question") },
  { keys: [], shown: "Esc Ctrl+Enter", group: "Text", help: "end editing" },
  { keys: ["m"], shown: "m", group: "Look", help: "do the first fix of the checks", act: (editor) => fixFirst(editor) },
  { keys: ["p"], shown: "p", group: "Look", help: "preview with low relevance masked", act: (editor) => togglePreview(editor) },
  { keys: ["?"], shown: "?", group: "Look", help: "all keys", act: (editor) => openHelp(editor) },
  { keys: ["Escape"], shown: "Esc", group: "Look", help: "let go of the selection", act: (editor) => letGo(editor) },
];

const KEY_ROWS = new Map(KEYS.flatMap((row) => row.keys.map((key) => [key, row])));
const CODES_OF_SIGNS = { BracketLeft: "[", BracketRight: "]", Slash: "/" };

/** The name of a key press as the table has it, on keyboards of other scripts too; null for shortcuts of the browser. */
function keyName(event) {
  const third = event.getModifierState && event.getModifierState("AltGraph");
  if ((event.ctrlKey && !third) || event.metaKey) return null;
  let { key } = event;
  if (key.length === 1 && (event.altKey || key.charCodeAt(0) > 127)) {
    // Alt gives other signs on some systems, and a Hebrew or Greek layout gives its own letters.
    if (/^Key[A-Z]$/.test(event.code)) key = event.code.slice(3).toLowerCase();
    else key = CODES_OF_SIGNS[event.code] || key;
  }
  if (key === "/" && event.shiftKey && event.code === "Slash") return "?"; // elsewhere, as on German keyboards, Shift makes the / itself
  if (/^[a-z]$/i.test(key)) return (event.shiftKey ? "Shift+" : "") + key.toLowerCase();
  if (["Tab", "[", "]"].includes(key) && event.shiftKey) return `Shift+${key}`;
  return key;
}

function forwardKeys(editor) {
  return getComputedStyle(editor.parts.context.surface).direction !== "rtl";
}

/** Key presses inside the component, and those that no other control of the page has a use for; true when done. */
function handleKey(editor, event) {
  settlePress(editor);
  if (editor.dialog || editor.picker || event.isComposing) return false;
  const row = KEY_ROWS.get(keyName(event));
  if (!row || (row.draft && !editor.draft)) return false;
  if (event.altKey && !/[[\]{}]/.test(row.keys[0])) return false;
  const onControl = event.target.closest && event.target.closest("button, summary, a");
  if (onControl && ["Enter", "Tab", "Shift+Tab"].includes(keyName(event))) return false;
  return row.act(editor, event) !== "pass";
}

function listenToKeys(editor) {
  editor.onKeyInside = (event) => {
    const typing = isTypingField(event.target);
    const done = !typing && handleKey(editor, event);
    if (done) event.preventDefault();
    // Streamlit listens on the document and sees only the host: it would take typing for hot keys.
    if (done || typing || editor.dialog) event.stopPropagation();
  };
  editor.onKeyOutside = (event) => {
    if (event.composedPath().includes(editor.parts.root) || !isForThePage(event)) return;
    if (!editor.parts.root.isConnected || !handleKey(editor, event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  editor.parts.root.addEventListener("keydown", editor.onKeyInside);
  document.addEventListener("keydown", editor.onKeyOutside, true);
}

/** Tab goes through the spans; past the last one it leaves for the controls, so that nobody is caught. */
function stepSelection(editor, step) {
  const { spans } = editor.model.state.document;
  if (editor.focusIn && editor.focusIn !== "text") return "pass";
  const at = spans.findIndex((span) => span.id === editor.selected);
  const next = at < 0 ? (step > 0 ? spans[0] : editor.focusIn ? null : spans.at(-1)) : spans[at + step];
  if (!next) return "pass";
  dropDraft(editor);
  selectSpan(editor, next.id);
  return null;
}

function pickType(editor, event) {
  if (event.key === "Enter" && !editor.draft && !editor.selected && !currentGroup(editor)) return "pass";
  if (!editor.draft && !currentGroup(editor)) return withSelected(editor, () => openPicker(editor));
  return openPicker(editor);
}

function stretch(editor, end, forward, event) {
  if (editor.draft) stretchDraft(editor, end, forward, event.altKey);
  else if (currentGroup(editor)) stretchGroup(editor, currentGroup(editor), end, forward, event.altKey);
  else withSelected(editor, (span) => moveSpan(editor, span, ...steppedEnds(editor, span, end, forward, event.altKey)));
}

function stretchGroup(editor, group, end, forward, exact) {
  const [start, stop] = steppedEnds(editor, group, end, forward, exact);
  if (start >= stop) tell(editor, REFUSALS.empty, "warning");
  else if (start !== group.start || stop !== group.end) takeChanged(editor, group, { start, end: stop });
}

function letGo(editor) {
  if (editor.endDrag) editor.endDrag(null);
  editor.pendingFix = null;
  if (editor.draft) dropDraft(editor);
  else if (editor.notice || editor.lasting.length) closeNotice(editor, editor.notice || editor.lasting.at(-1));
  else if (editor.ghost !== null) editor.ghost = null;
  else if (editor.selected) {
    editor.selected = null;
    if (editor.focusIn === "text") editor.parts.context.surface.focus({ preventScroll: true });
  }
  renderNotice(editor);
  render(editor);
}
