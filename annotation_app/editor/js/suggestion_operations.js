// Accepting and refusing suggestions: the twin of annotation_app/documents/history.py, of what `apply` does with them.
// rules.suggestions: where the server says that the suggestions are in the text ({id, start, end, type, relevance, subtype, withdrawn}).

const ORIGIN_OF_SPANS = "p-";

function suggestionsTaken(state, operation, rules) {
  let { document } = state;
  let after = state;
  for (const taken of operation.taken) {
    checkKnownType(taken.type, rules);
    const chosen = openSuggestions(taken.suggestions, after, rules);
    const same = document.spans.find((span) => span.start === taken.start && span.end === taken.end && span.type === taken.type);
    const span = same ?? spanOfTaken(taken, chosen);
    if (!same) document = spanPlaced(document, document.spans, span);
    after = withDecisions(after, chosen.map((one) => ({ suggestion: one.id, how: outcomeOfTaken(taken, one), span: span.id })));
  }
  if (sameDocument(document, state.document)) return after;
  return { ...after, document, verdict: "open", reason: "" };
}

function suggestionsRefused(state, operation, rules) {
  const chosen = openSuggestions(operation.suggestions, state, rules);
  return withDecisions(state, chosen.map((one) => ({ suggestion: one.id, how: "refused", span: null })));
}

function spanOfTaken({ start, end, type, relevance }, chosen) {
  const subtype = chosen.find((one) => one.subtype && one.type === type)?.subtype ?? null;
  return { id: ORIGIN_OF_SPANS + chosen[0].id, start, end, type, relevance, doubt: false, subtype, value_id: null, subject: null };
}

function outcomeOfTaken(taken, one) {
  const same = taken.start === one.start && taken.end === one.end && taken.type === one.type;
  return same && (one.relevance === null || one.relevance === taken.relevance) ? "accepted" : "changed";
}

function openSuggestions(names, state, rules) {
  const decided = new Set((state.decided ?? []).map((one) => one.suggestion));
  return names.map((name) => {
    if (decided.has(name)) refuse("already_decided");
    decided.add(name);
    const found = (rules.suggestions ?? []).find((one) => one.id === name);
    if (!found || found.withdrawn) refuse("no_suggestion");
    return found;
  });
}

function withDecisions(state, fresh) {
  const decided = new Map([...(state.decided ?? []), ...fresh].map((one) => [one.suggestion, one]));
  return { ...state, decided: [...decided.keys()].sort().map((name) => decided.get(name)) };
}

// What became of a decision when an operation on spans changed the span that came of it.
function decisionsAfterChange(state, before) {
  if (!state.decided || sameDocument(before, state.document)) return state;
  const decided = state.decided.map((one) => {
    const [then, now] = [before, state.document].map((document) => document.spans.find((span) => span.id === one.span));
    if (one.span === null || !then || then === now) return one;
    if (!now) return { ...one, how: "refused", span: null };
    return then.start !== now.start || then.end !== now.end || then.type !== now.type ? { ...one, how: "changed" } : one;
  });
  return decided.every((one, i) => one === state.decided[i] || sameDecision(one, state.decided[i])) ? state : { ...state, decided };
}

function sameDecision(a, b) {
  return a.suggestion === b.suggestion && a.how === b.how && a.span === b.span;
}

function sameDecisions(a, b) {
  const [one, two] = [a ?? [], b ?? []];
  return one.length === two.length && one.every((decided, i) => sameDecision(decided, two[i]));
}
