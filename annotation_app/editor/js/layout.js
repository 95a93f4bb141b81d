// The skeleton of the screen. Its parts are filled by the views; nothing here depends on a record.

function textBlock(editor, field, label, key) {
  const surface = element("div", { className: `text ${field}`, role: "group", "aria-label": label, tabIndex: field === "context" ? 0 : -1 });
  const overlay = element("div", { className: "overlay", "aria-hidden": "true" });
  const area = element("textarea", { className: `area ${field}`, "aria-label": `Edit the ${field}`, hidden: true, spellcheck: "false" });
  const edit = keyedButton("Edit", key, () => startEditing(editor, field), { className: "quiet", "aria-label": `Edit the ${field}` });
  const done = keyedButton("Done", "Esc", () => stopEditing(editor), { className: "quiet", hidden: true });
  const head = element("div", { className: "block-head" }, [element("h2", { textContent: label }), edit, done]);
  const frame = element("div", { className: "frame" }, [surface, overlay, area]);
  return { block: element("section", { className: `block ${field}-block` }, [head, frame]), frame, surface, overlay, area, edit, done };
}

function panel(title, className, open = true) {
  const body = element("div", { className: "panel-body" });
  const count = element("span", { className: "count" });
  const summary = element("summary", {}, [element("h2", { textContent: title }), count]);
  return { box: element("details", { className: `panel ${className}`, open }, [summary, body]), body, count };
}

function topBar(editor) {
  const position = element("span", { className: "position" });
  const badges = element("span", { className: "badges" });
  const saved = element("span", { className: "saved" });
  const steps = [
    keyedButton("", "k", () => go(editor, "previous"), { className: "quiet", glyph: "‹", "aria-label": "Previous record", title: "Previous record (k)" }),
    position,
    keyedButton("", "j", () => go(editor, "next"), { className: "quiet", glyph: "›", "aria-label": "Next record", title: "Next record (j)" }),
    keyedButton("List", "l", () => go(editor, "list"), { className: "quiet", title: "Back to the work list (l)" }),
  ];
  const help = keyedButton("Keys", "?", () => openHelp(editor), { className: "quiet", title: "All keys (?)" });
  const bar = element("header", { className: "bar top" }, [...steps, badges, element("span", { className: "space" }), saved, help]);
  return { bar, position, badges, saved };
}

function bottomBar(editor) {
  const buttons = {
    accept: keyedButton("Accept", "a", () => accept(editor), { className: "primary" }),
    reject: keyedButton("Reject…", "x", () => openReject(editor)),
    flag: keyedButton("Flag…", "f", () => openFlag(editor)),
    undo: keyedButton("Undo", "u", () => perform(editor, { op: "undo" }, "Undone"), { className: "quiet" }),
    redo: keyedButton("Redo", "U", () => perform(editor, { op: "redo" }, "Done again"), { className: "quiet" }),
    skip: keyedButton("Skip", "s", () => go(editor, "skip"), { className: "quiet" }),
    preview: keyedButton("Preview", "p", () => togglePreview(editor), { className: "quiet", "aria-pressed": "false" }),
  };
  const said = element("span", { className: "said", "aria-hidden": "true" });
  const notice = element("div", { className: "notice", hidden: true }); // beside the buttons, which are always in view
  const span = selectedActs(editor);
  const ghost = ghostActs(editor);
  const bar = element("footer", { className: "bar bottom", role: "toolbar", "aria-label": "Decide on the record" }, [notice, span.box, ...Object.values(buttons), ghost, said]);
  return { bar, buttons, said, notice, span, ghost };
}

/** For narrow screens and fingers, where the list of spans is far from the text: what can be done to the selected span. */
function selectedActs(editor) {
  const act = (done) => () => withSelected(editor, (span) => done(editor, span));
  const relevance = keyedButton("Relevance", "r", act(toggleRelevance));
  const type = keyedButton("Type", "t", act(retype));
  const remove = keyedButton("Remove", "Del", act(removeSpan));
  const box = element("div", { className: "span-acts", role: "group", "aria-label": "The selected span", hidden: true }, [relevance, type, remove]);
  return { box, relevance, type };
}

function buildLayout(editor) {
  const top = topBar(editor);
  const bottom = bottomBar(editor);
  const question = textBlock(editor, "question", "Question", "E");
  const context = textBlock(editor, "context", "Context", "e");
  const preview = element("section", { className: "block preview-block", hidden: true, "aria-label": "Preview" });
  const spans = panel("Spans", "spans");
  spans.list = element("ol", { className: "span-list" });
  spans.none = element("p", { className: "muted", textContent: "No spans. Select text with the mouse, or press n." });
  spans.body.append(spans.list, spans.none);
  const suggestions = panel("Suggestions", "suggestions");
  const checks = panel("Checks", "checks");
  const why = panel("Why labelled so", "why", false);
  const live = element("div", { className: "unseen", role: "status", "aria-live": "polite" });
  // Streamlit's page is the main landmark.
  const reading = element("section", { className: "reading", "aria-label": "The record" }, [question.block, context.block, preview]);
  const aside = element("aside", { className: "aside", "aria-label": "Spans and checks" }, [spans.box, suggestions.box, checks.box, why.box]);
  const floating = element("div", { className: "floating" });
  const root = element("div", { className: "editor" }, [
    element("div", { className: "inner" }, [top.bar, element("div", { className: "columns" }, [reading, aside]), bottom.bar, live]),
    floating,
  ]);
  const { position, badges, saved } = top;
  const { notice, span } = bottom;
  return { root, suggestions, ghostActs: bottom.ghost, position, badges, saved, notice, span, live, question, context, preview, spans, checks, why, floating, said: bottom.said, buttons: bottom.buttons };
}

const VERDICT_WORDS = { accepted: "✓ Accepted", rejected: "✕ Rejected" };
const MODE_WORDS = { practice: "Practice", adjudicate: "Adjudication", view: "Read only" };

const PLACE_HELP = "Done: records that you have finished. Left: unfinished records with a place for you; others may take some of them.";

/** What the numbers of a position count: a place in a fixed row of records, or one's own work in a list that others work on, too. */
function placeWords({ index, total, done, left } = {}) {
  if (left !== undefined) return `${done} done · ${left ? "about " : ""}${left} left for you`;
  return total ? `Record ${index} of ${total}` : "";
}

function renderBars(editor) {
  const { parts, data } = editor;
  const { state } = editor.model;
  setText(parts.position, placeWords(data.position || {}));
  parts.position.title = data.position?.left === undefined ? "" : PLACE_HELP;
  const words = [
    [MODE_WORDS[data.mode] || (data.readonly ? "Read only" : ""), "mode"],
    [VERDICT_WORDS[state.verdict] || "", state.verdict, state.reason],
    [state.flag ? "⚑ Flagged" : "", "flagged", state.flag],
  ];
  const key = JSON.stringify(words);
  if (editor.drawn.badges !== key) {
    editor.drawn.badges = key;
    const badges = words.filter(([text]) => text);
    parts.badges.replaceChildren(...badges.map(([text, kind, title]) => element("span", { className: `badge ${kind}`, textContent: text, title: title || null })));
  }
  const editable = mayEdit(editor);
  for (const [name, button] of Object.entries(parts.buttons)) if (name !== "preview" && name !== "skip") button.disabled = !editable;
  parts.buttons.skip.hidden = data.mode !== "annotate";
  parts.buttons.undo.disabled = !editable || !canUndo(editor.model);
  parts.buttons.redo.disabled = !editable || !canRedo(editor.model);
  renderSelectedActs(editor, editable);
  parts.root.classList.toggle("leaving", Boolean(editor.leaving));
  parts.root.setAttribute("aria-busy", editor.leaving ? "true" : "false");
  renderSaved(editor);
}

function renderSelectedActs(editor, editable) {
  const { box, relevance, type } = editor.parts.span;
  const span = editable && !editor.typing ? selectedSpan(editor) : null;
  box.hidden = !span;
  if (!span) return;
  setText(relevance.firstChild, `Relevance: ${spokenRelevance(span.relevance)}`);
  setText(type.firstChild, readable(span.type));
  type.setAttribute("aria-label", `Type: ${readable(span.type)}`);
}

function renderSaved(editor) {
  const { outbox, parts } = editor;
  const count = outbox.pending().length;
  const late = outbox.tries > 0;
  const words = !count ? "Saved" : late ? `Not saved yet: ${count} waiting for the server` : `Saving ${count}…`;
  setText(parts.saved, outbox.stored ? words : `${words} (kept in memory only)`);
  parts.saved.className = `saved ${count ? (late ? "late" : "busy") : ""}`;
}

/** What the server said stays until it is closed: it may be about a record that is off the screen by now. */
function renderNotice(editor) {
  const box = editor.parts.notice;
  const all = [...editor.lasting, ...(editor.notice ? [editor.notice] : [])];
  box.hidden = !all.length;
  const key = JSON.stringify(all);
  if (editor.drawn.notices === key) return;
  editor.drawn.notices = key;
  box.replaceChildren(...all.map((notice) => noticeRow(editor, notice)));
}

function noticeRow(editor, notice) {
  const close = () => closeNotice(editor, notice);
  const level = ["error", "warning"].includes(notice.level) ? notice.level : "info";
  const button = element("button", { type: "button", className: "button quiet", textContent: "×", "aria-label": "Close the message", onclick: close });
  return element("div", { className: `notice-row ${level}` }, [element("span", { textContent: notice.text }), button]);
}

function closeNotice(editor, notice) {
  if (editor.notice === notice) editor.notice = null;
  editor.lasting = editor.lasting.filter((one) => one !== notice);
  renderNotice(editor);
}
