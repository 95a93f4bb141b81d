// Suggestions on the screen: dashed boxes over the text, and a list. Detectors' names are texts like any other: textContent only.

const WITHDRAWN_WORDS = { text_changed: "its words were edited", text_gone: "its words are gone" };

function renderSuggestions(editor) {
  const groups = openGroups(editor);
  if (editor.ghost !== null && !groups.some((group) => group.key === editor.ghost)) editor.ghost = null;
  renderGhosts(editor, groups);
  renderGhostActs(editor);
  const { box, body, count } = editor.parts.suggestions;
  const all = editor.data.suggestions ?? [];
  box.hidden = !all.length;
  const key = JSON.stringify([groups, editor.ghost, mayEdit(editor), all.map((one) => one.withdrawn), suggestionsStand(editor), editor.typesKey]);
  if (editor.drawn.suggestions === key && editor.drawn.suggestedMap === editor.map) return;
  Object.assign(editor.drawn, { suggestions: key, suggestedMap: editor.map });
  setText(count, String(groups.length));
  const list = element("ul", { className: "suggestion-list" }, groups.map((group) => groupRow(editor, group)));
  const foot = groups.length && mayEdit(editor) ? [element("div", { className: "suggestion-foot" }, footButtons(editor))] : [];
  body.replaceChildren(list, ...foot, ...notesOf(editor, groups, all));
  const row = list.querySelector(".row.selected");
  if (row) scrollInside(list, row);
}

function footButtons(editor) {
  return [
    keyedButton("Accept all from…", "Y", () => openAcceptAll(editor), { className: "small" }),
    keyedButton("Refuse the rest", "", () => refuseRest(editor), { className: "small quiet" }),
  ];
}

function notesOf(editor, groups, all) {
  const note = (text) => element("p", { className: "muted", textContent: text });
  if (!suggestionsStand(editor)) return [note("The text has just changed: the suggestions move with it.")];
  const decided = new Set((editor.model.state.decided ?? []).map((one) => one.suggestion));
  const gone = all.filter((one) => one.withdrawn && !decided.has(one.id));
  const notes = gone.map((one) => note(`Withdrawn: ${readable(one.type)} by ${one.detector}, since ${WITHDRAWN_WORDS[one.withdrawn] ?? "it fits no longer"}`));
  return groups.length || notes.length ? notes : [note("All are decided.")];
}

function groupRow(editor, group) {
  const current = () => openGroups(editor).find((other) => other.key === group.key);
  const withCurrent = (act) => () => {
    const now = current();
    if (now) act(editor, now);
  };
  const choose = element(
    "button",
    { type: "button", className: "choose", title: sourcesOf(group), "data-act": "choose", onclick: withCurrent(selectGroup) },
    [
      element("span", { className: "swatch unset", "aria-hidden": "true" }),
      element("span", { className: "unseen", textContent: "Suggestion: " }),
      element("span", { className: "value", textContent: groupValue(editor, group), dir: "auto" }),
      element("span", { className: "type", textContent: readable(group.type) }),
      element("span", { className: "score", textContent: group.score === null ? "–" : group.score.toFixed(2) }),
    ],
  );
  const acts = !mayEdit(editor) ? [] : [
    keyedButton("Accept", "y", withCurrent(acceptGroup), { className: "small", "data-act": "accept" }),
    keyedButton("Refuse", "d", withCurrent(refuseGroup), { className: "small quiet", "data-act": "refuse" }),
    keyedButton("Type", "t", withCurrent((_, now) => retypeGroup(editor, now)), { className: "small quiet", "data-act": "type" }),
  ];
  const fit = { same: "is a span already", overlaps: "overlaps a span" }[group.fits];
  const row = element("li", { className: `row suggestion ${group.key === editor.ghost ? "selected" : ""}`, "data-suggestion": group.key }, [
    element("div", { className: "row-line" }, [choose, fit ? element("span", { className: "doubt-note", textContent: fit }) : null]),
    element("div", { className: "row-acts" }, [element("span", { className: "sources", textContent: sourcesOf(group) }), ...acts]),
  ]);
  row.style.setProperty("--type", colourOfType(editor.data, group.type));
  return row;
}

function retypeGroup(editor, group) {
  editor.selected = null;
  editor.ghost = group.key;
  render(editor);
  openPicker(editor);
}

/** Boxes over what is suggested and not a span yet. They lie above the text and take no clicks: text can be selected through them. */
function renderGhosts(editor, groups) {
  const shown = isBeingTyped(editor, "context") ? [] : groups.filter((group) => group.fits !== "same");
  const key = JSON.stringify([shown.map((group) => [group.key, group.score]), editor.ghost, editor.drawn.width, editor.typesKey]);
  if (editor.drawn.ghosts === key && editor.drawn.ghostPieces === editor.pieces) return;
  Object.assign(editor.drawn, { ghosts: key, ghostPieces: editor.pieces });
  const { overlay, frame } = editor.parts.context;
  for (const old of overlay.querySelectorAll(".ghost")) old.remove();
  if (!shown.length) return;
  const origin = frame.getBoundingClientRect();
  const boxes = shown.flatMap((group) => [...rangeOfField(editor, "context", [group.start, group.end]).getClientRects()].filter((box) => box.width >= 1).map((box) => [group, box]));
  overlay.append(...boxes.map(([group, box]) => ghostBox(editor, group, box, origin)));
}

function ghostBox(editor, group, box, origin) {
  const piece = element("div", { className: `highlight ghost ${group.key === editor.ghost ? "selected" : ""}`, "data-suggestion": group.key });
  piece.style.setProperty("--type", colourOfType(editor.data, group.type));
  Object.assign(piece.style, { left: `${box.left - origin.left}px`, top: `${box.top - origin.top}px`, width: `${box.width}px`, height: `${box.height}px` });
  return piece;
}

/** The suggestion whose box is at a place of the window, the smallest one if they overlap. */
function groupAt(editor, x, y) {
  const hit = [...editor.parts.context.overlay.querySelectorAll(".ghost")].filter((piece) => {
    const box = piece.getBoundingClientRect();
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  });
  const keys = new Set(hit.map((piece) => piece.dataset.suggestion));
  const groups = openGroups(editor).filter((group) => keys.has(group.key));
  return groups.toSorted((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
}

function listenToSuggestions(editor) {
  const { frame } = editor.parts.context;
  frame.addEventListener("pointermove", (event) => {
    const group = editor.drawn.ghosts && event.pointerType === "mouse" && !event.buttons ? groupAt(editor, event.clientX, event.clientY) : null;
    const title = group ? `Suggested: ${readable(group.type)}, by ${sourcesOf(group)}` : "";
    if (frame.title !== title) frame.title = title;
  });
}

/** For narrow screens and fingers: what can be done to the selected suggestion stands in the lower bar. */
function ghostActs(editor) {
  const act = (done) => () => withGroup(editor, (group) => done(editor, group));
  const buttons = [keyedButton("Accept suggestion", "y", act(acceptGroup)), keyedButton("Refuse suggestion", "d", act(refuseGroup))];
  return element("div", { className: "span-acts suggested-acts", role: "group", "aria-label": "The selected suggestion", hidden: true }, buttons);
}

function renderGhostActs(editor) {
  editor.parts.ghostActs.hidden = !mayEdit(editor) || Boolean(editor.typing) || editor.ghost === null;
}
