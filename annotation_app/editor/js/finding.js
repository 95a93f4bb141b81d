// `/`: one types letters, the places of the context that read so are shown, and the one chosen becomes the draft of a new span.

const FOUND_NAME = "piiloom-found"; // editor.css draws it
const MOST_FOUND = 500; // so many are drawn, around the current one
const PASSED_OVER = "[\\p{M}\\p{Cf}]"; // accents, vowel points, joiners, marks of direction: nobody has to type them

/** The text with é as e and its accent; for each unit of that, where its grapheme begins and ends in the text. */
function decomposed(text, locale) {
  const [parts, starts, ends] = [[], [], []];
  for (const { segment, index } of segmenterFor("grapheme", locale).segment(text)) {
    const part = segment.normalize("NFD");
    parts.push(part);
    for (let i = 0; i < part.length; i += 1) {
      starts.push(index);
      ends.push(index + segment.length);
    }
  }
  return { text: parts.join(""), starts, ends };
}

/** What was typed, in either case and however its accents are written; a blank stands for any, line ends too. */
function patternOfTyped(typedText) {
  const passed = new RegExp(`^${PASSED_OVER}$`, "u");
  const signs = [...typedText.normalize("NFD").replace(/\s+/g, " ")].map((sign, i) => {
    const exact = sign === " " ? "\\s+" : sign.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
    return i === 0 || passed.test(sign) ? exact : `${PASSED_OVER}*${exact}`;
  });
  return new RegExp(signs.join(""), "giu");
}

/** [start, end] in shown units of each match, whole graphemes. */
function placesOf({ text, starts, ends }, typedText) {
  if (!typedText.trim()) return [];
  const places = [];
  for (const { 0: match, index } of text.matchAll(patternOfTyped(typedText))) {
    const place = [starts[index], ends[index + match.length - 1]];
    if (!places.length || place[0] >= places.at(-1)[1]) places.push(place);
  }
  return places;
}

function openFinding(editor) {
  if (editor.leaving) return;
  if (editor.typing) stopEditing(editor);
  closeFinding(editor);
  const input = element("input", { className: "find-input", "aria-label": "Find in the context", placeholder: "find…", autocomplete: "off", spellcheck: "false", dir: "auto" });
  const count = element("span", { className: "find-count muted", "aria-hidden": "true" }); // is announced
  const hints = [["↓ ↑", "others"], ["Enter", "begin a span"], ["Alt+Enter", "exactly"], ["Esc", "close"]];
  const foot = hints.map(([keys, text]) => element("span", { className: "find-hint muted" }, [...keyCaps(keys), ` ${text}`]));
  const box = element("div", { className: "find", role: "search", "aria-label": "Find in the context" }, [input, count, ...foot]);
  editor.finding = { box, input, count, before: editor.shadow.activeElement, from: unitToFindFrom(editor), map: null, folded: null, places: [], at: 0 };
  input.addEventListener("input", () => findTyped(editor));
  input.addEventListener("keydown", (event) => findingKey(editor, event));
  input.addEventListener("blur", () => setTimeout(() => editor.finding?.box === box && document.hasFocus() && closeFinding(editor)));
  editor.parts.notice.before(box);
  input.focus({ preventScroll: true });
}

/** The selected span or draft, else the first line in view. */
function unitToFindFrom(editor) {
  const held = editor.draft || selectedSpan(editor);
  if (held) return editor.map.toShown(held.start);
  const { left, width, top } = editor.parts.context.surface.getBoundingClientRect();
  const underBars = 84; // as in editor.css
  return top < underBars ? (unitAtPointer(editor, left + width / 2, underBars) ?? 0) : 0;
}

function findTyped(editor) {
  lookUp(editor);
  showFound(editor);
}

function lookUp(editor) {
  const { finding, map } = editor;
  if (finding.map !== map) Object.assign(finding, { map, folded: decomposed(map.shown, editor.data.locale) });
  finding.places = placesOf(finding.folded, finding.input.value);
  finding.at = Math.max(0, finding.places.findIndex(([start]) => start >= finding.from)); // past the last one: the first
}

function stepFound(editor, step) {
  const { finding } = editor;
  const { length } = finding.places;
  if (!length) return;
  finding.at = (finding.at + step + length) % length;
  [finding.from] = finding.places[finding.at];
  showFound(editor);
}

function foundWords({ places, at, input }) {
  if (places.length) return `${at + 1} of ${places.length}`;
  return input.value.trim() ? "Not found" : "";
}

function showFound(editor) {
  renderFound(editor);
  announce(editor, foundWords(editor.finding));
  editor.parts.context.overlay.querySelector(".found")?.scrollIntoView({ block: "nearest" });
}

/** All matches tinted where the browser can do that, the current one framed. */
function renderFound(editor) {
  const { finding, drawn } = editor;
  if (!finding && !drawn.found) return;
  drawn.found = Boolean(finding);
  if (finding && finding.map !== editor.map) lookUp(editor);
  if (finding) setText(finding.count, foundWords(finding));
  const { places, at } = finding || { places: [], at: 0 };
  drawHighlights(editor, "found", places.slice(at, at + 1).map((place) => place.map(editor.map.toPoint)));
  if (!globalThis.Highlight || !CSS.highlights) return;
  const near = places.slice(Math.max(0, at - MOST_FOUND / 2), at + MOST_FOUND / 2);
  CSS.highlights.set(FOUND_NAME, new Highlight(...near.map((place) => new StaticRange(rangeOfUnits(editor, ...place)))));
}

function findingKey(editor, event) {
  if (event.isComposing) return;
  if (event.key === "ArrowDown") stepFound(editor, 1);
  else if (event.key === "ArrowUp") stepFound(editor, -1);
  else if (event.key === "Enter") beginAtFound(editor, event.altKey);
  else if (event.key === "Escape") {
    const { before } = editor.finding;
    closeFinding(editor);
    (before?.isConnected ? before : editor.parts.context.surface).focus({ preventScroll: true });
  } else return;
  event.preventDefault();
}

/** What selecting the place with the mouse would do, but that the list of types waits: the draft can still be changed by keys. */
function beginAtFound(editor, exact) {
  const { places, at } = editor.finding;
  if (!places.length) return;
  const place = trimmedUnits(editor.map.shown, ...places[at]);
  closeFinding(editor);
  dropDraft(editor);
  if (draftUnits(editor, place, exact)) showDraft(editor);
  else if (!mayEdit(editor)) editor.parts.context.surface.focus({ preventScroll: true });
}

function closeFinding(editor) {
  if (!editor.finding) return;
  const { box } = editor.finding;
  editor.finding = null;
  box.remove();
  renderFound(editor);
}
