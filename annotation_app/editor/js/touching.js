// Selecting by touch: the system's own handles make the selection, and it may be pulled about; a button then makes it a span.

const OFFER_PAUSE_MS = 120; // a tap on the button may clear the selection a moment before it clicks

function listenToTouch(editor) {
  editor.offer = { units: null, timer: null, button: element("button", { type: "button", className: "button primary offer", textContent: "Make a span" }) };
  editor.offer.button.addEventListener("click", () => takeOffer(editor));
  editor.onSelectionChange = () => {
    clearTimeout(editor.offer.timer);
    editor.offer.timer = setTimeout(() => offerSpan(editor), OFFER_PAUSE_MS);
  };
  document.addEventListener("selectionchange", editor.onSelectionChange);
}

function stopTouch(editor) {
  document.removeEventListener("selectionchange", editor.onSelectionChange);
  clearTimeout(editor.offer.timer);
  withdrawOffer(editor);
}

function offerSpan(editor) {
  const wanted = editor.attached && editor.pointer === "touch" && mayEdit(editor) && !editor.typing && !editor.picker && !editor.dialog;
  const units = wanted ? selectedUnits(editor) : null;
  if (!units) {
    withdrawOffer(editor);
    return;
  }
  editor.offer.units = units;
  editor.parts.floating.append(editor.offer.button);
  placeOffer(editor, units);
}

/** Under the selection and the handles that hang from it; above it where there is no room. */
function placeOffer(editor, [start, end]) {
  const box = rangeOfUnits(editor, start, end).getBoundingClientRect();
  const origin = editor.parts.root.getBoundingClientRect();
  const { button } = editor.offer;
  const { width, height } = button.getBoundingClientRect();
  const left = Math.max(0, Math.min((box.left + box.right - width) / 2 - origin.left, origin.width - width));
  const below = box.bottom + 34;
  const top = below + height + 70 < window.innerHeight ? below : box.top - height - 62;
  Object.assign(button.style, { left: `${left}px`, top: `${top - origin.top}px` });
}

function withdrawOffer(editor) {
  editor.offer.units = null;
  editor.offer.button.remove();
}

function takeOffer(editor) {
  const { units } = editor.offer;
  clearTimeout(editor.offer.timer);
  withdrawOffer(editor);
  if (!units) return;
  clearSelection(editor);
  proposeUnits(editor, units, false);
}
