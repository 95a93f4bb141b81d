// Doing things: an operation is tried here, shown at once and put into the outbox; the person hears what was done.

const REFUSALS = {
  overlap: "Spans may not overlap. Remove or shorten the other span first.",
  outside: "The span would leave the text.",
  empty: "A span needs at least one character.",
  unknown_span: "The span is not there any more.",
  id_taken: "The span is there already.",
  text_differs: "The text changed meanwhile. Please look at it and edit again.",
  unknown_type: "There is no such type.",
  bad_relevance: "Relevance is high or low.",
  in_doubt: "A span whose text changed must be confirmed first (key c).",
  no_question: "The question is empty. Write one, or reject the record.",
  no_reason: "Please give a reason.",
  nothing_to_undo: "Nothing to undo.",
  nothing_to_redo: "Nothing to redo.",
  no_longer_fits: "It no longer fits what is there now.",
  no_suggestion: "That suggestion is no longer there.",
  already_decided: "That suggestion is decided already.",
  malformed: "The editor made a mistake; nothing was changed. Please reload the page.",
};

// How often the server is asked to show another record.
const MOST_ASKED = 5;

function currentModel(editor) {
  return modelAfterAll(editor.settled, editor.outbox.pending(editor.data.record).map((one) => one.operation));
}

function mayEdit(editor) {
  return !editor.data.readonly && editor.data.mode !== "view";
}

/** Try, show, send. True when done; otherwise the person has been told why not. */
function perform(editor, operation, said) {
  if (!mayEdit(editor)) return tell(editor, "This record can only be read here.", "warning");
  if (editor.leaving) return false;
  if (editor.pendingFix && ["accept", "reject"].includes(operation.op)) {
    return tell(editor, "The fix that you asked for is on its way. Press again when it is done, or Esc to let it be.", "info");
  }
  if (operation.op !== "text") flushTyping(editor);
  if (editor.model.waiting) {
    editor.deferred.push(() => perform(editor, operation, said));
    return true;
  }
  const { model, refused } = modelAfter(editor.model, operation);
  if (refused) return tell(editor, REFUSALS[refused] || `Refused: ${refused}`, "warning");
  const base = editor.model.version;
  editor.wanted = null; // who goes on working stays here
  editor.model = model;
  editor.outbox.add(editor.data.record, base, operation);
  editor.notice = null;
  if (said) announce(editor, said);
  render(editor);
  return true;
}

/** One line for screen readers and for the status line. */
function announce(editor, text) {
  editor.parts.live.textContent = "";
  editor.parts.live.textContent = text;
  setText(editor.parts.said, text);
}

/** Something the person should see now; false, so that refusals can return it. */
function tell(editor, text, level = "info") {
  editor.notice = { text, level };
  announce(editor, text);
  renderNotice(editor);
  return false;
}

function selectedSpan(editor) {
  return editor.model.state.document.spans.find((span) => span.id === editor.selected) || null;
}

function valueOf(editor, span) {
  return shortened(editor.map.slice(span.start, span.end), 40);
}

function selectSpan(editor, id, focus = true) {
  editor.selected = id;
  editor.ghost = null;
  editor.focusSpan = focus ? id : null;
  const span = selectedSpan(editor);
  if (span) announce(editor, spanWords(editor, span));
  render(editor);
}

function spanWords(editor, span) {
  const doubt = span.doubt ? ", to be confirmed" : "";
  return `${valueOf(editor, span)}: ${readable(span.type)}, ${spokenRelevance(span.relevance)} relevance${doubt}`;
}

function withSelected(editor, act) {
  // What the key means depends on what the undo brings back.
  if (editor.model.waiting) {
    editor.deferred.push(() => withSelected(editor, act));
    return null;
  }
  const span = selectedSpan(editor);
  if (!span) return tell(editor, "Select a span first: click it, or press Tab.", "info");
  return act(span);
}

function toggleRelevance(editor, span) {
  const relevance = span.relevance === "high" ? "low" : "high";
  perform(editor, { op: "relevance", id: span.id, relevance }, `${valueOf(editor, span)}: ${relevance} relevance`);
}

function removeSpan(editor, span) {
  const spans = editor.model.state.document.spans;
  const at = spans.findIndex((other) => other.id === span.id);
  const next = spans[at + 1] || spans[at - 1];
  const said = `Removed ${readable(span.type)}: ${valueOf(editor, span)}`;
  const before = editor.selected;
  editor.selected = next ? next.id : null;
  editor.focusSpan = editor.focusIn === "text" && next ? next.id : null;
  if (!perform(editor, { op: "remove", id: span.id }, said)) [editor.selected, editor.focusSpan] = [before, null];
}

/** [start, end] with one end of the span moved by a word, or by a grapheme when exact. */
function steppedEnds(editor, span, end, forward, exact) {
  const { shown } = editor.map;
  const unit = exact ? "grapheme" : "word";
  const locale = editor.data.locale;
  const from = editor.map.toShown(end ? span.end : span.start);
  let to;
  if (end) to = forward ? boundaryAfter(shown, from, unit, locale) : endBefore(shown, from, unit, locale);
  else to = forward ? startAfter(shown, from, unit, locale) : boundaryBefore(shown, from, unit, locale);
  const point = editor.map.toPoint(to);
  return end ? [span.start, point] : [point, span.end];
}

function moveSpan(editor, span, start, end) {
  if (start === span.start && end === span.end) return;
  if (start >= end) {
    tell(editor, REFUSALS.empty, "warning");
    return;
  }
  perform(editor, { op: "move", id: span.id, start, end }, `Now: ${shortened(editor.map.slice(start, end), 60)}`);
}

function addSpan(editor, start, end, type, relevance) {
  const suggested = groupMarked(editor, start, end, type);
  if (suggested) {
    takeChanged(editor, suggested, { start, end, type, relevance });
    return;
  }
  const span = { id: randomName("u-"), start, end, type, relevance };
  const said = `Added ${readable(type)}, ${spokenRelevance(relevance)} relevance: ${shortened(editor.map.slice(start, end), 40)}`;
  const before = editor.selected;
  [editor.selected, editor.focusSpan] = [span.id, span.id];
  if (!perform(editor, { op: "add", span }, said)) editor.selected = before;
}

/** Go somewhere else. Until the other record is there, keys would hit the wrong one: they rest. */
function go(editor, where, record) {
  flushTyping(editor);
  if (editor.leaving) return;
  editor.intents += 1;
  const intent = { client: editor.outbox.client, number: editor.intents, go: where };
  editor.wanted = { value: record === undefined ? intent : { ...intent, record }, asked: 0, answered: false };
  ask(editor);
}

/** Back or Forward among the records that this page has shown; see record_address.py. */
function goWhereTheAddressLeads(editor) {
  const record = new URLSearchParams(location.search).get("record");
  if (editor.data.mode !== "annotate" || !record || (record === editor.data.record && !editor.leaving)) return;
  clearTimeout(editor.leaving?.timer);
  editor.leaving = null; // who goes back at once has thought better of it
  go(editor, "record", record);
}

/** Send where the person wants to go, again and again until the server has heard it: it takes each number once. */
function ask(editor) {
  const { wanted } = editor;
  wanted.asked += 1;
  wanted.answered = false;
  editor.leaving = { number: wanted.value.number, timer: setTimeout(() => arrived(editor), 2500) };
  editor.send("intent", wanted.asked === 1 ? wanted.value : { ...wanted.value, attempt: wanted.asked });
  render(editor);
}

/** The other record is there, or has been long in coming: then the keys work here again. */
function arrived(editor) {
  if (!editor.leaving) return;
  clearTimeout(editor.leaving.timer);
  editor.leaving = null;
  askAgain(editor);
  render(editor);
}

/** After an outage: the server answers again, but has not heard where the person wanted to go. */
function askAgain(editor) {
  if (editor.wanted?.answered && !editor.leaving && editor.wanted.asked < MOST_ASKED) ask(editor);
}

function accept(editor) {
  const { verdict } = editor.model.state;
  if (verdict !== "accepted" && !perform(editor, { op: "accept" }, "Accepted")) return;
  if (editor.data.mode !== "practice" && mayEdit(editor)) whenSettled(editor, () => go(editor, "next"));
}

/** Now, or after the undo that only the server can work out. */
function whenSettled(editor, act) {
  if (editor.model.waiting) editor.deferred.push(act);
  else act();
}
