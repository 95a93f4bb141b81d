// A lost connection, told in a line above the page: what is kept, and how many edits. Streamlit's own dialog is off (host_config.py).

const LOST_AFTER_MS = 1500; // a connection that comes back at once is not worth a word
const OUTBOXES = new Set();
let lostSince = null;
let lostLine = null;

/** Watch the connection as Streamlit notes it on its root; as long as the document lasts. */
function watchConnection() {
  lostLine = element("div", { role: "status", id: "piiloom-lost", hidden: true });
  Object.assign(lostLine.style, {
    position: "fixed", insetInline: "0", top: "0", zIndex: "1000001", padding: "0.45rem 1rem", textAlign: "center", pointerEvents: "none",
    background: "#7a4a00", color: "#ffffff", font: "600 0.95rem/1.4 system-ui, sans-serif",
  });
  document.body.append(lostLine);
  setInterval(renderConnection, 500);
  for (const name of ["online", "offline"]) window.addEventListener(name, renderConnection);
}

function isConnected() {
  const state = document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState;
  return navigator.onLine && (!state || state === "CONNECTED");
}

/** Called every half a second, and whenever an outbox changes. */
function renderConnection() {
  if (!lostLine) return;
  const now = performance.now();
  lostSince = isConnected() ? null : lostSince ?? now;
  const isLost = lostSince !== null && now - lostSince >= LOST_AFTER_MS;
  if (isLost) setText(lostLine, lostWords());
  lostLine.hidden = !isLost;
}

function lostWords() {
  const edits = [...OUTBOXES].reduce((sum, outbox) => sum + outbox.pending().length, 0);
  const kept = edits === 1 ? "1 edit is kept in this tab and is sent when it is back" : `${edits} edits are kept in this tab and are sent when it is back`;
  if (edits) return `No connection to the server. ${kept}. You can go on with this record.`;
  return [...OUTBOXES].some((outbox) => !outbox.recordless) ? "No connection to the server. What you do to this record is kept in this tab until it is back." : "No connection to the server. This page can be used when it is back.";
}
