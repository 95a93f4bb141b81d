// The twin of annotation_app/documents/history.py (and of the readers in document.py), so that an edit shows at once.
// The server decides: undo, redo and revert are its own. tests/annotation_app/vectors hold what both must do alike.

const OPERATION_NAME = (value) => operationText(value) && value !== "";
const OPERATION_TEXT_OR_NULL = (value) => value === null || operationText(value);

function operationText(value) {
  return typeof value === "string" && value.isWellFormed();
}

function operationNames(value) {
  return Array.isArray(value) && value.length > 0 && value.every(OPERATION_NAME);
}

const OPERATION_FIELDS = {
  text: {
    field: (value) => value === "context" || value === "question",
    at: Number.isInteger,
    removed: operationText,
    inserted: operationText,
  },
  add: { span: (value) => typeof value === "object" && value !== null && !Array.isArray(value) },
  move: { id: OPERATION_NAME, start: Number.isInteger, end: Number.isInteger },
  type: { id: OPERATION_NAME, type: operationText },
  relevance: { id: OPERATION_NAME, relevance: () => true },
  remove: { id: OPERATION_NAME },
  confirm: { id: OPERATION_NAME },
};
const JUDGEMENT_FIELDS = {
  many: { operations: (value) => Array.isArray(value) && value.length > 0 },
  take: { taken: (value) => Array.isArray(value) && value.length > 0 },
  refuse: { suggestions: operationNames },
  accept: {},
  reject: { reason: operationText },
  reopen: {},
  flag: { comment: operationText },
  unflag: {},
};
const ADDED_SPAN_FIELDS = { id: OPERATION_NAME, start: Number.isInteger, end: Number.isInteger, type: operationText, relevance: () => true };
const TAKEN_FIELDS = { suggestions: operationNames, start: Number.isInteger, end: Number.isInteger, type: operationText, relevance: () => true };
const ADDED_SPAN_EXTRAS = { subtype: OPERATION_TEXT_OR_NULL, value_id: OPERATION_TEXT_OR_NULL, subject: OPERATION_TEXT_OR_NULL };
const BLANK_TEXT = /^[\t-\r \x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]*$/;

class OperationRefused extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

function refuse(code) {
  throw new OperationRefused(code);
}

// The state after an operation, as {state}, or {refused: code}. The state given is left as it is; it comes back itself when
// nothing changed, and then there is no step to undo.
// rules.types: the known types (any, if left out); rules.questionNeeded: whether the record had a question at first.
function applyOperation(state, operation, rules = {}) {
  try {
    checkOperationShape(operation, { ...OPERATION_FIELDS, ...JUDGEMENT_FIELDS });
    const after = stateAfter(state, operation, rules);
    const changed = ["document", "verdict", "reason", "flag", "decided"].some((name) => after[name] !== state[name]);
    return { state: changed ? after : state };
  } catch (error) {
    if (error instanceof OperationRefused) return { refused: error.code };
    throw error;
  }
}

function checkOperationShape(operation, forms) {
  const name = typeof operation === "object" && operation !== null ? operation.op : undefined;
  if (typeof name !== "string" || !Object.hasOwn(forms, name)) refuse("malformed");
  const { op: _, ...given } = operation;
  checkOperationFields(given, forms[name], {});
  if (name === "add") checkOperationFields(operation.span, ADDED_SPAN_FIELDS, ADDED_SPAN_EXTRAS);
  if (name === "take") for (const taken of operation.taken) checkOperationFields(objectOrNothing(taken), TAKEN_FIELDS, {});
  if (name === "many") for (const step of operation.operations) checkOperationShape(step, OPERATION_FIELDS);
}

function objectOrNothing(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : refuse("malformed");
}

function checkOperationFields(given, needed, extras) {
  const known = { ...needed, ...extras };
  if (!Object.keys(needed).every((key) => Object.hasOwn(given, key))) refuse("malformed");
  if (!Object.keys(given).every((key) => Object.hasOwn(known, key))) refuse("malformed");
  for (const key of Object.keys(given)) {
    if (!known[key](given[key])) refuse("malformed");
    if (key === "relevance" && ![null, "high", "low"].includes(given[key])) refuse("bad_relevance");
  }
}

function stateAfter(state, operation, rules) {
  switch (operation.op) {
    case "accept":
      checkAcceptable(state.document, rules);
      return { ...state, verdict: "accepted", reason: "" };
    case "reject":
      return { ...state, verdict: "rejected", reason: saidWhy(operation.reason) };
    case "reopen":
      return { ...state, verdict: "open", reason: "" };
    case "flag":
      return { ...state, flag: saidWhy(operation.comment) };
    case "unflag":
      return { ...state, flag: "" };
    case "take":
      return suggestionsTaken(state, operation, rules);
    case "refuse":
      return suggestionsRefused(state, operation, rules);
    default: {
      let after = state;
      for (const step of operation.op === "many" ? operation.operations : [operation]) {
        const before = after.document;
        after = { ...after, document: documentAfter(before, step, rules) };
        if (step.op !== "text") after = decisionsAfterChange(after, before);
      }
      if (!sameDocument(after.document, state.document)) return { ...after, verdict: "open", reason: "" };
      return sameDecisions(after.decided, state.decided) ? state : { ...after, document: state.document };
    }
  }
}

function checkAcceptable(document, rules) {
  if (document.spans.some((span) => span.doubt)) refuse("in_doubt");
  if (rules.questionNeeded && BLANK_TEXT.test(document.question ?? "")) refuse("no_question");
}

function saidWhy(text) {
  return BLANK_TEXT.test(text) ? refuse("no_reason") : text;
}

function documentAfter(document, step, rules) {
  switch (step.op) {
    case "text":
      return textEdited(document, step);
    case "add": {
      if (document.spans.some((span) => span.id === step.span.id)) refuse("id_taken");
      checkKnownType(step.span.type, rules);
      return spanPlaced(document, document.spans, { doubt: false, subtype: null, value_id: null, subject: null, ...step.span });
    }
    case "move": {
      const others = document.spans.filter((span) => span.id !== step.id);
      return spanPlaced(document, others, { ...foundSpan(document, step.id), start: step.start, end: step.end, doubt: false });
    }
    case "type": {
      const span = foundSpan(document, step.id);
      checkKnownType(step.type, rules);
      return spanExchanged(document, { ...span, type: step.type, subtype: span.type === step.type ? span.subtype : null, doubt: false });
    }
    case "relevance":
      return spanExchanged(document, { ...foundSpan(document, step.id), relevance: step.relevance });
    case "remove":
      foundSpan(document, step.id);
      return { ...document, spans: document.spans.filter((span) => span.id !== step.id) };
    default: // confirm
      return spanExchanged(document, { ...foundSpan(document, step.id), doubt: false });
  }
}

function textEdited(document, { field, at, removed, inserted }) {
  const text = document[field] ?? "";
  const start = pointToUtf16(text, at);
  if (at < 0 || (start === text.length && at > pointLength(text))) refuse("outside");
  if (!text.startsWith(removed, start) || isInsidePair(text, start + removed.length)) refuse("text_differs");
  if (removed === inserted) return document;
  const after = text.slice(0, start) + inserted + text.slice(start + removed.length);
  if (field === "question") return { ...document, question: after };
  return { ...document, context: after, spans: realignedSpans(document.spans, at, at + pointLength(removed), pointLength(inserted)) };
}

// Where the spans are after [from, to) was replaced by so many code points; see documents/realigning.py.
function realignedSpans(spans, from, to, inserted) {
  const growth = inserted - (to - from);
  const found = [];
  for (const span of spans) {
    const { start, end } = span;
    if (from >= end) found.push(span);
    else if (to <= start) found.push({ ...span, start: start + growth, end: end + growth });
    else {
      const [first, last] = reachedEnds(start, end, from, to, inserted);
      if (first < last) found.push({ ...span, start: first, end: last, doubt: true });
    }
  }
  return found;
}

function reachedEnds(start, end, from, to, inserted) {
  const growth = inserted - (to - from);
  if (start <= from && to <= end) return [start, end + growth];
  if (from <= start && end <= to) return [start, start];
  return from < start ? [from + inserted, end + growth] : [start, from];
}

function spanPlaced(document, others, span) {
  if (span.start < 0 || span.end > pointLength(document.context)) refuse("outside");
  if (span.start >= span.end) refuse("empty");
  if (others.some((other) => other.start < span.end && span.start < other.end)) refuse("overlap");
  const before = others.filter((other) => other.end <= span.start).length;
  return { ...document, spans: [...others.slice(0, before), span, ...others.slice(before)] };
}

function spanExchanged(document, span) {
  return { ...document, spans: document.spans.map((other) => (other.id === span.id ? span : other)) };
}

function foundSpan(document, id) {
  return document.spans.find((span) => span.id === id) ?? refuse("unknown_span");
}

function checkKnownType(name, rules) {
  if (rules.types && !rules.types.includes(name)) refuse("unknown_type");
}

function sameDocument(a, b) {
  if (a === b) return true;
  if (a.context !== b.context || a.question !== b.question || a.spans.length !== b.spans.length) return false;
  return a.spans.every((span, i) => span === b.spans[i] || Object.keys(span).every((key) => span[key] === b.spans[i][key]));
}
