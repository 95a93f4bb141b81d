// Live checks: what may be wrong, where, and the fix that one key does.

function shownChecks(editor) {
  return (editor.data.checks || []).filter((check) => !editor.fixed.has(JSON.stringify(check.fix ?? check)));
}

function renderChecks(editor) {
  const checks = shownChecks(editor);
  const { box, body, count } = editor.parts.checks;
  const key = JSON.stringify([checks, mayEdit(editor)]);
  if (editor.drawn.checks === key) return;
  editor.drawn.checks = key;
  setText(count, String(checks.length));
  box.classList.toggle("none", !checks.length);
  box.hidden = !checks.length;
  const first = checks.find((check) => check.fix);
  body.replaceChildren(element("ul", { className: "check-list" }, checks.map((check) => checkRow(editor, check, check === first))));
}

function checkRow(editor, check, first) {
  const show = element("button", { type: "button", className: "check-text", textContent: check.sentence, title: "Show where", onclick: () => showCheck(editor, check, true) });
  show.addEventListener("pointerenter", () => showCheck(editor, check, false));
  show.addEventListener("pointerleave", () => pointAt(editor, null));
  show.addEventListener("focus", () => showCheck(editor, check, false));
  show.addEventListener("blur", () => pointAt(editor, null));
  const fix = check.fix && mayEdit(editor)
    ? keyedButton(capitalised(check.fix_label || "Fix"), first ? "m" : "", () => doFix(editor, check), { className: "small" })
    : null;
  return element("li", { className: "check" }, [show, fix]);
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Ranges come with the server's version of the text: they are shown only while it is the one on the screen. */
function showCheck(editor, check, go) {
  const current = editor.model.version === editor.data.version;
  if (go && check.spans && check.spans.length) selectSpan(editor, check.spans[0], false);
  if (!current || check.field === "question") return;
  pointAt(editor, check.ranges || []);
  if (!go || !check.ranges || !check.ranges.length) return;
  const [start, end] = unitsOfPoints(editor, check.ranges[0]);
  const range = rangeOfUnits(editor, start, end);
  const holder = range.startContainer.parentElement;
  const box = range.getBoundingClientRect();
  if (box.top < 60 || box.bottom > window.innerHeight - 90) {
    if (holder.closest("mark")) holder.scrollIntoView({ block: "center" });
    else editor.parts.context.overlay.querySelector(".pointed")?.scrollIntoView({ block: "center" });
  }
}

function pointAt(editor, ranges) {
  editor.pointed = ranges && ranges.length ? ranges : null;
  renderHighlights(editor);
}

function doFix(editor, check) {
  pointAt(editor, null);
  if (!perform(editor, check.fix, `Done: ${check.fix_label || "fixed"}`)) return;
  editor.fixed.add(JSON.stringify(check.fix));
  renderChecks(editor);
}

function fixFirst(editor) {
  const first = shownChecks(editor).find((check) => check.fix);
  if (first) doFix(editor, first);
  else tell(editor, "No check has a fix.", "info");
}
