// Suggestions of detectors: which are open, going through them, and accepting, changing and refusing them.

const ACCEPT_FROM = 0.9; // what the dialog "accept all from a score on" begins with

/** The places are those of the server's text: they are right only while that is on the screen. */
function suggestionsStand(editor) {
  return !editor.model.waiting && standsStill(editor, { field: "context" });
}

/** Open suggestions in text order; what several detectors suggest alike is one group. */
function openGroups(editor) {
  if (!suggestionsStand(editor)) return [];
  const decided = new Set((editor.model.state.decided ?? []).map((one) => one.suggestion));
  const groups = new Map();
  for (const one of editor.data.suggestions ?? []) {
    if (decided.has(one.id) || one.withdrawn) continue;
    const key = `${one.start} ${one.end} ${one.type}`;
    const group = groups.get(key) ?? { key, start: one.start, end: one.end, type: one.type, all: [] };
    group.all.push(one);
    groups.set(key, group);
  }
  const ordered = [...groups.values()].sort((a, b) => a.start - b.start || a.end - b.end);
  return ordered.map((group) => ({ ...group, ...tellingOf(group.all), fits: fitOf(editor, group) }));
}

function tellingOf(all) {
  const scores = all.map((one) => one.score).filter((score) => score !== null);
  return { score: scores.length ? Math.max(...scores) : null, relevance: all.find((one) => one.relevance !== null)?.relevance ?? null };
}

/** "free", "same": there is such a span already, or "overlaps": another span is in the way. */
function fitOf(editor, { start, end, type }) {
  const hit = editor.model.state.document.spans.filter((span) => span.start < end && start < span.end);
  if (!hit.length) return "free";
  return hit.some((span) => span.start === start && span.end === end && span.type === type) ? "same" : "overlaps";
}

function currentGroup(editor) {
  return editor.ghost === null ? null : openGroups(editor).find((group) => group.key === editor.ghost) ?? null;
}

function groupValue(editor, group) {
  return shortened(editor.map.slice(group.start, group.end), 40);
}

function scoreWords(score) {
  return score === null ? "no score" : score.toFixed(2);
}

/** Who suggests it, for people and for screen readers. */
function sourcesOf(group) {
  return group.all.map((one) => `${one.detector}${one.found_by ? ` (${one.found_by})` : ""}, ${scoreWords(one.score)}${one.model ? `, ${one.model}` : ""}`).join("; ");
}

function groupWords(editor, group) {
  return `${groupValue(editor, group)}: ${readable(group.type)}, suggested by ${sourcesOf(group)}`;
}

function selectGroup(editor, group) {
  dropDraft(editor);
  editor.selected = null;
  editor.ghost = group ? group.key : null;
  if (group) announce(editor, groupWords(editor, group));
  render(editor);
  if (group) editor.parts.context.overlay.querySelector(".ghost.selected")?.scrollIntoView({ block: "nearest" });
}

/** The next or previous one, from the selected suggestion or span on. */
function stepGroup(editor, step) {
  const groups = openGroups(editor);
  if (!groups.length) return tell(editor, suggestionsStand(editor) ? "There is no suggestion left here." : "The suggestions are on their way.", "info");
  const at = groups.findIndex((group) => group.key === editor.ghost);
  const from = selectedSpan(editor)?.start ?? (step > 0 ? -1 : Infinity);
  const ahead = step > 0 ? groups.find((group) => group.start > from) : groups.findLast((group) => group.start < from);
  selectGroup(editor, at < 0 ? ahead ?? groups.at(step > 0 ? 0 : -1) : groups.at((at + step) % groups.length));
  return null;
}

/** Act on the selected suggestion; with none selected the key only shows the first, so that nothing unseen is decided. */
function withGroup(editor, act) {
  if (editor.model.waiting) {
    editor.deferred.push(() => withGroup(editor, act));
    return null;
  }
  const group = currentGroup(editor);
  return group ? act(group) : stepGroup(editor, 1);
}

/** Where nothing is asked, nothing is relevant to it; else as of any new span. */
function relevanceOfGroup(editor, group) {
  return group.relevance ?? (editor.model.state.document.question === null ? null : relevanceOfNew(editor, false));
}

function takenFrom(editor, group, changes = {}) {
  const { start, end, type } = group;
  return { suggestions: group.all.map((one) => one.id), start, end, type, relevance: relevanceOfGroup(editor, group), ...changes };
}

function acceptGroup(editor, group) {
  if (group.fits === "overlaps") return tell(editor, "Another span is in the way: remove or shorten it, or refuse the suggestion.", "warning");
  return decideAndGoOn(editor, group, { op: "take", taken: [takenFrom(editor, group)] }, `Accepted ${readable(group.type)}: ${groupValue(editor, group)}`);
}

function refuseGroup(editor, group) {
  const operation = { op: "refuse", suggestions: group.all.map((one) => one.id) };
  return decideAndGoOn(editor, group, operation, `Refused ${readable(group.type)}: ${groupValue(editor, group)}`);
}

/** Then the next one is selected: a record is gone through with one key for each. */
function decideAndGoOn(editor, group, operation, said) {
  const groups = openGroups(editor);
  const at = groups.findIndex((one) => one.key === group.key);
  const next = groups[at + 1] ?? groups[at - 1] ?? null;
  const before = editor.ghost;
  editor.ghost = next ? next.key : null;
  if (!perform(editor, operation, said)) editor.ghost = before;
  return null;
}

/** Accept with other ends or another type: what comes of it is selected, so that it can be changed further. */
function takeChanged(editor, group, changes) {
  const id = ORIGIN_OF_SPANS + group.all[0].id;
  const before = [editor.ghost, editor.selected, editor.focusSpan];
  [editor.ghost, editor.selected, editor.focusSpan] = [null, id, id];
  const taken = takenFrom(editor, group, changes);
  const changed = ["start", "end", "type"].some((name) => taken[name] !== group[name]);
  const said = `Accepted${changed ? " with a change" : ""}: ${readable(taken.type)}, ${shortened(editor.map.slice(taken.start, taken.end), 40)}`;
  if (!perform(editor, { op: "take", taken: [taken] }, said)) [editor.ghost, editor.selected, editor.focusSpan] = before;
}

/** The suggestion that somebody accepts by marking a span: of the same ends, or the only one there of the same type. */
function groupMarked(editor, start, end, type) {
  const near = openGroups(editor).filter((group) => group.start < end && start < group.end);
  const exact = near.filter((group) => group.start === start && group.end === end);
  const alike = near.filter((group) => group.type === type);
  return exact.find((group) => group.type === type) ?? exact[0] ?? (alike.length === 1 ? alike[0] : null);
}

/** What can be accepted together: nothing in the way, the surer first where two overlap. */
function acceptableFrom(editor, score) {
  const wanted = openGroups(editor).filter((group) => group.fits !== "overlaps" && group.score !== null && group.score >= score);
  const kept = [];
  for (const group of wanted.toSorted((a, b) => b.score - a.score || a.start - b.start)) {
    if (kept.every((other) => group.end <= other.start || other.end <= group.start)) kept.push(group);
  }
  return kept.toSorted((a, b) => a.start - b.start);
}

const countedSuggestions = (groups) => (groups.length === 1 ? "1 suggestion" : `${groups.length} suggestions`);

function acceptAllFrom(editor, score) {
  const groups = acceptableFrom(editor, score);
  if (!groups.length) return tell(editor, `No suggestion with a score from ${score} on can be accepted.`, "info");
  editor.ghost = null;
  return perform(editor, { op: "take", taken: groups.map((group) => takenFrom(editor, group)) }, `Accepted ${countedSuggestions(groups)}`);
}

function refuseRest(editor) {
  const groups = openGroups(editor);
  if (!groups.length) return;
  editor.ghost = null;
  perform(editor, { op: "refuse", suggestions: groups.flatMap((group) => group.all.map((one) => one.id)) }, `Refused ${countedSuggestions(groups)}`);
}

function openAcceptAll(editor) {
  if (!mayEdit(editor) || editor.leaving) return;
  if (!openGroups(editor).length) {
    stepGroup(editor, 1); // says why
    return;
  }
  const input = element("input", { type: "number", className: "find-input", value: String(editor.acceptFrom ?? ACCEPT_FROM), "aria-label": "Score", min: "0", max: "1", step: "0.05" });
  const count = element("p", { className: "muted", role: "status" });
  const score = () => (input.value.trim() === "" ? NaN : Number(input.value));
  const tellCount = () => setText(count, `${acceptableFrom(editor, score()).length} of ${openGroups(editor).length} would be accepted.`);
  const submit = () => {
    const from = score();
    if (!(from >= 0 && from <= 1)) {
      input.setAttribute("aria-invalid", "true");
      input.focus();
      return;
    }
    closeDialog(editor);
    editor.acceptFrom = from;
    acceptAllFrom(editor, from);
  };
  input.addEventListener("input", tellCount);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  const close = keyedButton("Cancel", "Esc", () => closeDialog(editor), { className: "quiet" });
  const label = element("label", {}, ["Accept all suggestions with a score from ", input, " on"]);
  openDialog(editor, "Accept suggestions", [label, count], [element("span", { className: "space" }), close, keyedButton("Accept", "Enter", submit, { className: "primary" })]);
  tellCount();
  input.focus();
  input.select();
}
