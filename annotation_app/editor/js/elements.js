// Making elements. Texts of records get into the page here only, and only through textContent.

const DIRECT_PROPERTIES = new Set(["textContent", "className", "value", "disabled", "hidden", "title", "tabIndex", "type", "rows", "dir", "id", "open"]);

function element(tag, properties = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (DIRECT_PROPERTIES.has(name)) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/**
 * A button with the key that does the same; `tabIndex` and focus are the browser's own. The key, and a sign in place of words (`glyph`), are
 * drawn by CSS: they are no part of the button's name.
 */
function keyedButton(label, key, act, properties = {}) {
  const { className = "", glyph = null, ...others } = properties;
  const children = [element("span", { textContent: label, "data-glyph": glyph })];
  if (key) children.push(element("kbd", { "data-key": key, "aria-hidden": "true" }));
  const shortcut = key ? { "aria-keyshortcuts": key } : {};
  return element("button", { type: "button", className: `button ${className}`, onclick: act, ...shortcut, ...others }, children);
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Colours come with the data: nothing but a plain colour may get into a style. */
function safeColour(colour) {
  return /^(#[0-9a-f]{3,8}|[a-z]{3,30}|(rgb|hsl|oklch)a?\([0-9.,%/\s a-z]{1,60}\))$/i.test(colour || "") ? colour : "#888888";
}

function colourOfType(data, name) {
  const found = (data.types || []).find((type) => type.name === name);
  return safeColour(found && found.colour);
}

function spokenRelevance(relevance) {
  return relevance === "high" ? "high" : relevance === "low" ? "low" : "unset";
}

function readable(name) {
  return String(name).replaceAll("_", " ");
}

function shortened(text, length = 60) {
  const one = text.replace(/\s+/g, " ").trim();
  return one.length > length ? `${[...one].slice(0, length).join("")}…` : one;
}

// An INPUT of these types takes no letters.
const PRESSED_INPUTS = new Set(["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"]);

function isTypingField(target) {
  if (!target || !target.tagName) return false;
  if (target.tagName === "INPUT") return !PRESSED_INPUTS.has(target.type);
  return target.tagName === "TEXTAREA" || target.tagName === "SELECT" || target.isContentEditable;
}

// Keys with which a control outside the editor is used.
const KEYS_OF_CONTROLS = new Set(["Enter", " ", "Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"]);
// Where letters search or choose.
const LETTERS_CHOOSE = "[role=combobox], [role=listbox], [role=menu], [role=dialog], dialog, [contenteditable]";

/** Whether a key press is the page's: it hit nothing, or a control of Streamlit's that has no use for it. */
function isForThePage(event) {
  const target = event.composedPath()[0];
  if (target === document.body || target === document.documentElement) return true;
  return !KEYS_OF_CONTROLS.has(event.key) && !isTypingField(target) && !target.closest?.(LETTERS_CHOOSE);
}
