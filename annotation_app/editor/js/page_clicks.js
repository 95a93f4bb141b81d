// One click after the other. Streamlit gives up what it is doing for each click, also a button's click that its server has not come to yet.
// So a button waits for the one before it, and what else is clicked waits until the server is at it.

const HELD = []; // clicks that wait: the control, whether it is a button that acts, and the fields that wait with it
const BEGINS_WITHIN_MS = 1500; // a button that sets nothing going holds nothing up for longer
const READ_WITHIN_MS = 200; // by then what the server began has read its fields (acting.py)
const BUSY = { phase: "idle", since: 0, timer: null, isReplaying: false };
const ACTING = "[data-testid=stFormSubmitButton] button, [data-testid=stButton] button";

/** Hold up clicks on the controls around the editor while a button is at work; as long as the document lasts. */
function listenForClicks() {
  window.addEventListener("click", holdClick, true);
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Enter" && event.target.closest?.("[data-testid=stForm] input")) begins(); // it sends the form, without a click
    },
    true,
  );
}

function holdClick(event) {
  if (BUSY.isReplaying || !isConnected()) return;
  const control = event.target.closest?.("button, [role=tab], nav a");
  if (!control || !control.closest("[data-testid=stApp]")) return;
  const acts = control.matches(ACTING);
  if (!HELD.length && mayPass(acts)) {
    if (acts) begins();
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.detail < 2) HELD.push({ control, acts, frozen: freeze(control) }); // a double click is one
  look();
}

function begins() {
  Object.assign(BUSY, { phase: "sent", since: performance.now() });
  look();
}

function scriptState() {
  return document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
}

/** A button passes when nothing runs: what runs could be taken for what it sets going. */
function mayPass(acts) {
  if (acts) return BUSY.phase === "idle" && scriptState() !== "running";
  return BUSY.phase === "idle" || (BUSY.phase === "begun" && performance.now() - BUSY.since >= READ_WITHIN_MS);
}

/** Look what the server is at, let pass what may, and look again while there is something to look for. */
function look() {
  clearTimeout(BUSY.timer);
  const isRunning = scriptState() === "running";
  if (!isConnected()) {
    HELD.splice(0).forEach(thaw);
    BUSY.phase = "idle";
  }
  if (BUSY.phase === "sent" && isRunning) Object.assign(BUSY, { phase: "begun", since: performance.now() });
  else if (BUSY.phase === "sent" && performance.now() - BUSY.since > BEGINS_WITHIN_MS) BUSY.phase = "idle";
  else if (BUSY.phase === "begun" && !isRunning) BUSY.phase = "idle";
  while (HELD.length && mayPass(HELD[0].acts)) replay(HELD.shift());
  document.documentElement.style.cursor = HELD.length ? "progress" : "";
  if (HELD.length || BUSY.phase !== "idle") BUSY.timer = setTimeout(look, 40);
}

/** What is sent is what the form held when it was clicked: its fields stay so until then. */
function freeze(control) {
  const fields = [...(control.closest("[data-testid=stForm]")?.querySelectorAll("input, textarea") ?? [])].filter((one) => !one.readOnly);
  for (const one of fields) one.readOnly = true;
  return fields;
}

function thaw({ frozen }) {
  for (const one of frozen) one.readOnly = false;
}

/** Click what is still there. What has made way, as a button that decides on the record before, is not meant any more. */
function replay(held) {
  thaw(held);
  if (!held.control.isConnected || held.control.disabled) return;
  if (held.acts) Object.assign(BUSY, { phase: "sent", since: performance.now() });
  BUSY.isReplaying = true;
  held.control.click();
  BUSY.isReplaying = false;
}
