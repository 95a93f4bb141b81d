// Live checks: what may be wrong, where, and the fix that one key does.

const quotesByCheck = new WeakMap();

function shownChecks(editor) {
  return (editor.data.checks || []).filter((check) => !editor.fixed.has(JSON.stringify(check.fix ?? check)));
}

function fieldOf(check) {
  return check.field === "question" ? "question" : "context";
}

/** Places come with the server's version of a text: they are right only while it is the one on the screen. */
function standsStill(editor, check) {
  const field = fieldOf(check);
  return editor.data.state.document[field] === editor.model.state.document[field];
}

/** A fix was worked out on the server's version: it means the same as long as text and spans are what they were there. */
function isFresh(editor, check) {
  if (editor.model.waiting || !standsStill(editor, check)) return false;
  const spanIn = (state, id) => state.document.spans.find((span) => span.id === id);
  return (check.spans || []).every((id) => {
    const [then, now] = [spanIn(editor.data.state, id), spanIn(editor.model.state, id)];
    return then && now && COMPARED_FIELDS.every((name) => (then[name] ?? null) === (now[name] ?? null));
  });
}

function renderChecks(editor) {
  const checks = shownChecks(editor);
  const { box, body, count } = editor.parts.checks;
  const key = JSON.stringify([checks, mayEdit(editor)]);
  if (editor.drawn.checks === key) return;
  editor.drawn.checks = key;
  editor.pointed = null; // the row that the mouse is on goes without leaving
  setText(count, String(checks.length));
  box.classList.toggle("none", !checks.length);
  box.hidden = !checks.length;
  const first = checks.find((check) => check.fix);
  body.replaceChildren(element("ul", { className: "check-list" }, checks.map((check) => checkRow(editor, check, check === first))));
}

function checkRow(editor, check, first) {
  const quote = quoteOf(editor, check);
  const words = [element("span", { textContent: check.sentence }), quote ? element("span", { className: "check-place", textContent: quote, dir: "auto" }) : null];
  const show = element("button", { type: "button", className: "check-text", title: "Show where", onclick: () => showCheck(editor, check, true) }, words);
  show.addEventListener("pointerenter", () => showCheck(editor, check, false));
  show.addEventListener("pointerleave", () => pointAt(editor, null));
  show.addEventListener("focus", () => showCheck(editor, check, false));
  show.addEventListener("blur", () => pointAt(editor, null));
  const fix = check.fix && mayEdit(editor)
    ? keyedButton(capitalised(check.fix_label || "Fix"), first ? "m" : "", () => doFix(editor, check), { className: "small" })
    : null;
  return element("li", { className: "check" }, [show, fix]);
}

/** The words that the check is about, from the text that the server looked at. */
function quoteOf(editor, check) {
  if (!quotesByCheck.has(check)) {
    const text = editor.data.state.document[fieldOf(check)] ?? "";
    const [place] = check.ranges || [];
    quotesByCheck.set(check, place ? `“${shortened(slicePoints(text, place[0], place[1]), 36)}”` : "");
  }
  return quotesByCheck.get(check);
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Point at the places of the check; `go`: select its span and bring the first place into view. */
function showCheck(editor, check, go) {
  if (go && check.spans && check.spans.length) selectSpan(editor, check.spans[0], false);
  if (!standsStill(editor, check)) return;
  pointAt(editor, check.ranges || [], fieldOf(check));
  if (!go || !check.ranges || !check.ranges.length) return;
  const { overlay, surface } = editor.parts[fieldOf(check)];
  const box = rangeOfField(editor, fieldOf(check), check.ranges[0]).getBoundingClientRect();
  if (box.top < 60 || box.bottom > window.innerHeight - 90) (overlay.querySelector(".pointed") || surface).scrollIntoView({ block: "center" });
}

function pointAt(editor, ranges, field = "context") {
  editor.pointed = ranges && ranges.length ? { field, ranges } : null;
  renderHighlights(editor);
}

/** Do the fix; where the check is about what has changed since, the server's next word on it is awaited. */
function doFix(editor, check) {
  pointAt(editor, null);
  if (!mayEdit(editor)) return;
  if (!isFresh(editor, check)) {
    postponeFix(editor, JSON.stringify([check.code, check.spans]));
    return;
  }
  if (!perform(editor, check.fix, `Done: ${check.fix_label || "fixed"}`)) return;
  editor.fixed.add(JSON.stringify(check.fix));
  renderChecks(editor);
}

function fixFirst(editor) {
  const first = shownChecks(editor).find((check) => check.fix);
  if (first) doFix(editor, first);
  else if (editor.model.version !== editor.data.version) postponeFix(editor, null);
  else tell(editor, "No check has a fix.", "info");
}

function postponeFix(editor, which) {
  editor.pendingFix = { which };
  announce(editor, "The checks are being made anew; then the fix is done");
}

/** Everything has been acknowledged: the checks are about what is on the screen, and a fix that was asked for can be done. */
function applyPendingFix(editor) {
  if (!editor.pendingFix || editor.model.waiting || editor.model.version !== editor.data.version) return;
  const { which } = editor.pendingFix;
  editor.pendingFix = null;
  const found = shownChecks(editor).find((check) => check.fix && (which === null || JSON.stringify([check.code, check.spans]) === which));
  if (found) doFix(editor, found);
  else announce(editor, "There is nothing left to fix there");
}
