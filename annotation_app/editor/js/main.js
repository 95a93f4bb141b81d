// Streamlit calls mountEditor anew whenever the data change; everything lives on under the root of the component.

const EDITORS = new WeakMap();

function mountEditor({ data, parentElement, setStateValue }) {
  let editor = EDITORS.get(parentElement);
  // Somebody else logged in: nothing of the first person's may go out under the second's name.
  if (editor && (data.record === null || editor.data.person !== data.person)) {
    retire(editor);
    editor.parts.root.remove();
    EDITORS.delete(parentElement);
    editor = null;
  }
  if (data.record === null) return mountWithoutRecord({ data, parentElement, setStateValue });
  closeSender(parentElement);
  if (!editor) {
    editor = newEditor(parentElement, data, setStateValue);
    EDITORS.set(parentElement, editor);
  }
  editor.setStateValue = setStateValue;
  attach(editor);
  takeData(editor, data);
  // Streamlit also cleans up after a call that newer data overtook, a moment before it calls with those: whoever took the listeners
  // off then would lose the keys pressed in between. When the component really goes, it has left the page by the time of the clean-up.
  return () => {
    if (!parentElement.isConnected) retire(editor);
  };
}

function newEditor(shadow, data, setStateValue) {
  const editor = {
    shadow, data, setStateValue,
    attached: false, intents: 0, leaving: null, wanted: null, deferred: [],
    settled: null, model: modelFrom(data), map: textMap(""), pieces: [], pieceByNode: new Map(), markById: new Map(), rowById: new Map(),
    selected: null, ghost: null, focusSpan: null, focusIn: null, draft: null, picker: null, dialog: null, typing: null, finding: null, pointed: null, pendingFix: null, press: null, notice: null, lasting: [],
    previewOpen: false, fixed: new Set(), shownNotices: new Set(), drawn: {}, typesKey: "", commentedKey: "", storage: tabStorage(),
  };
  editor.send = (name, value) => editor.setStateValue(name, value);
  editor.outbox = openOutbox(data.person, (value) => editor.send("outbox", value), () => renderSaved(editor));
  editor.parts = buildLayout(editor);
  shadow.append(editor.parts.root);
  buildHandles(editor);
  buildEditing(editor);
  editor.resizing = new ResizeObserver(() => {
    editor.drawn.width = editor.parts.context.frame.offsetWidth;
    renderHighlights(editor);
    renderSuggestions(editor);
    renderHandles(editor);
  });
  return editor;
}

function attach(editor) {
  if (editor.attached) return;
  editor.attached = true;
  OUTBOXES.add(editor.outbox);
  listenToKeys(editor);
  listenToSelecting(editor);
  listenToTouch(editor);
  listenToSuggestions(editor);
  editor.onFocusIn = (event) => {
    const { question, context } = editor.parts;
    editor.focusIn = question.block.contains(event.target) ? "question" : context.surface.contains(event.target) ? "text" : "elsewhere";
  };
  editor.onFocusOut = () => {
    editor.focusIn = null;
  };
  editor.onLeavingPage = () => flushTyping(editor);
  editor.onHistory = () => goWhereTheAddressLeads(editor);
  editor.onBackOnline = () => editor.outbox.deliver();
  editor.parts.root.addEventListener("focusin", editor.onFocusIn);
  editor.parts.root.addEventListener("focusout", editor.onFocusOut);
  window.addEventListener("pagehide", editor.onLeavingPage);
  document.addEventListener("visibilitychange", editor.onLeavingPage);
  window.addEventListener("popstate", editor.onHistory);
  window.addEventListener("online", editor.onBackOnline);
  editor.resizing.observe(editor.parts.context.frame);
}

function retire(editor) {
  if (!editor.attached) return;
  flushTyping(editor);
  editor.attached = false;
  stopTouch(editor);
  closeFinding(editor);
  forgetHints(editor);
  editor.parts.root.removeEventListener("keydown", editor.onKeyInside);
  document.removeEventListener("keydown", editor.onKeyOutside, true);
  window.removeEventListener("pointerup", editor.onPointerUp, true);
  editor.parts.root.removeEventListener("focusin", editor.onFocusIn);
  editor.parts.root.removeEventListener("focusout", editor.onFocusOut);
  window.removeEventListener("pagehide", editor.onLeavingPage);
  document.removeEventListener("visibilitychange", editor.onLeavingPage);
  window.removeEventListener("popstate", editor.onHistory);
  window.removeEventListener("online", editor.onBackOnline);
  editor.resizing.disconnect();
  editor.outbox.close();
}

/** New data from the server: what it acknowledges leaves the outbox, the rest is applied on top of its state. */
function takeData(editor, data) {
  const first = editor.settled === null;
  const other = !first && data.record !== editor.data.record;
  if (other) leaveRecord(editor);
  const acknowledged = editor.outbox.acknowledge(data.acknowledged).filter((one) => one.record === data.record);
  editor.settled = settledModel(other ? null : editor.settled, data, acknowledged.map((one) => one.operation));
  editor.data = data;
  editor.typesKey = JSON.stringify(data.types || []);
  editor.commentedKey = JSON.stringify(data.commented || {});
  if (editor.fixed.size && !editor.outbox.pending(data.record).length) editor.fixed.clear();
  const shown = other || first ? null : editor.model.state;
  const model = currentModel(editor);
  // Equal for the eye: the views compare references, so the old one stays.
  editor.model = shown && sameState(shown, model.state) ? { ...model, state: shown } : model;
  noteNotices(editor);
  takeArrival(editor, other);
  if (first && editor.outbox.pending().length) editor.outbox.deliver();
  render(editor);
  adoptOutsideChange(editor);
  if (first || other) {
    restoreTyping(editor);
    if (first) takeFocus(editor);
    announce(editor, `Another record. ${placeWords(data.position || {})}`);
  }
  runDeferred(editor);
  applyPendingFix(editor);
  askAgain(editor);
}

/** Another record has come, or the server has followed the last wish to go elsewhere; else it has answered, and not to that. */
function takeArrival(editor, other) {
  const done = (editor.data.intents_done || {})[editor.outbox.client] ?? 0;
  if (editor.wanted) editor.wanted.answered = true;
  if (other || (editor.wanted && done >= editor.wanted.value.number)) editor.wanted = null;
  if (!editor.leaving || !(other || done >= editor.leaving.number)) return;
  clearTimeout(editor.leaving.timer);
  editor.leaving = null;
}

/**
 * The keys work at once when the editor comes up, unless somebody already types elsewhere. The button that brought it up goes with
 * the page it stood on, but may hold the focus until then: keys pressed meanwhile would be lost on it.
 */
function takeFocus(editor) {
  if (!isTypingField(document.activeElement)) editor.parts.context.surface.focus({ preventScroll: true });
}

/** Close what belongs to the old record; what was typed goes out under its name first. */
function leaveRecord(editor) {
  if (editor.typing) stopEditing(editor);
  if (editor.endDrag) editor.endDrag(null);
  dropDraft(editor);
  closeFinding(editor);
  closeDialog(editor);
  withdrawOffer(editor);
  Object.assign(editor, { pendingFix: null, selected: null, ghost: null, focusSpan: null, pointed: null, notice: null, lasting: [], deferred: [] });
  editor.fixed.clear();
  editor.wentOn = true;
}

function runDeferred(editor) {
  if (editor.model.waiting || !editor.deferred.length) return;
  const acts = editor.deferred;
  editor.deferred = [];
  for (const act of acts) act();
}

function noteNotices(editor) {
  for (const notice of editor.data.notices || []) {
    const key = `${notice.client ?? ""} ${notice.sequence ?? ""} ${notice.text}`;
    if (editor.shownNotices.has(key)) continue;
    editor.shownNotices.add(key);
    editor.lasting = [...editor.lasting, { text: notice.text, level: notice.level }].slice(-3);
    announce(editor, notice.text);
  }
}

/** Bring the screen in line with the model. Each view compares what it drew last and leaves alone what is the same. */
function render(editor) {
  renderBars(editor);
  renderNotice(editor);
  renderDirection(editor);
  renderQuestion(editor);
  renderEditing(editor);
  renderContext(editor);
  renderSpanList(editor);
  renderChecks(editor);
  renderPreview(editor);
  renderWhy(editor);
  renderHighlights(editor);
  renderSuggestions(editor);
  renderHandles(editor);
  if (!editor.wentOn) return;
  editor.wentOn = false;
  if (editor.parts.root.getBoundingClientRect().top < 0) editor.parts.root.scrollIntoView({ block: "start" });
  if (!editor.typing) editor.parts.context.surface.focus({ preventScroll: true });
}
