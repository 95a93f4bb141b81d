// What one record looks like once everything pending has been applied, undo and redo included.
// The server's state is the truth. States are never changed in place, so that views may compare references.

const COMPARED_FIELDS = ["id", "start", "end", "type", "relevance", "doubt", "subtype", "value_id", "subject"];

function sameState(a, b) {
  if (a.verdict !== b.verdict || (a.reason || "") !== (b.reason || "") || (a.flag || "") !== (b.flag || "")) return false;
  if (!sameDecisions(a.decided, b.decided)) return false;
  const [one, two] = [a.document, b.document];
  if (one.context !== two.context || one.question !== two.question || one.spans.length !== two.spans.length) return false;
  return one.spans.every((span, i) => COMPARED_FIELDS.every((name) => (span[name] ?? null) === (two.spans[i][name] ?? null)));
}

function modelFrom(data) {
  // `deeper` and `further`: the server can undo or redo more than this page has seen.
  const known = { past: [], future: [], deeper: Boolean(data.can_undo), further: Boolean(data.can_redo) };
  // Without word from the server, a question that is there is needed.
  const questionNeeded = data.question_needed ?? Boolean(data.state.document.question?.trim());
  const rules = { types: (data.types || []).map((type) => type.name), questionNeeded, suggestions: data.suggestions || [] };
  return { record: data.record, state: data.state, version: data.version, waiting: false, rules, ...known };
}

function canUndo(model) {
  return model.past.length > 0 || model.deeper;
}

function canRedo(model) {
  return model.future.length > 0 || model.further;
}

/** {model} after one operation, or {refused: code}. What undo brings back may be known to the server only: then `waiting`. */
function modelAfter(model, operation) {
  if (operation.op === "undo" || operation.op === "redo") return travelled(model, operation.op === "undo");
  if (model.waiting) return { refused: "waiting" };
  const { state, refused } = applyOperation(model.state, operation, model.rules);
  if (refused) return { refused };
  const version = model.version + 1;
  if (sameState(state, model.state)) return { model: { ...model, version } }; // counted, but nothing to undo
  return { model: { ...model, state, version, past: [...model.past, model.state], future: [], further: false } };
}

function travelled(model, back) {
  if (back ? !canUndo(model) : !canRedo(model)) return { refused: back ? "nothing_to_undo" : "nothing_to_redo" };
  const from = back ? model.past : model.future;
  const version = model.version + 1;
  if (!from.length) return { model: { ...model, version, waiting: true } };
  const state = from[from.length - 1];
  const rest = from.slice(0, -1);
  const others = [...(back ? model.future : model.past), model.state];
  return { model: { ...model, state, version, past: back ? rest : others, future: back ? others : rest } };
}

function modelAfterAll(model, operations) {
  return operations.reduce((now, operation) => modelAfter(now, operation).model || now, model);
}

/** The settled model when `data` comes: the old one moved on if it agrees with the server, else the server's state as it is. */
function settledModel(before, data, acknowledged) {
  const fresh = modelFrom(data);
  if (!before || before.record !== data.record) return fresh;
  if (data.question_needed === undefined) fresh.rules.questionNeeded ||= before.rules.questionNeeded;
  const moved = modelAfterAll(before, acknowledged);
  if (!moved.waiting && moved.version === data.version && sameState(moved.state, data.state)) {
    const deeper = moved.past.length ? moved.deeper : fresh.deeper;
    return { ...moved, rules: fresh.rules, deeper, further: moved.future.length ? moved.further : fresh.further };
  }
  // Unchanged for the eye: keep the reference, so that nothing is drawn again.
  return sameState(before.state, data.state) ? { ...fresh, state: before.state } : fresh;
}
