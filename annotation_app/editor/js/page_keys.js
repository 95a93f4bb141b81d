// The keys of Streamlit's buttons (D, N, 1 …). Streamlit hears no key that a focused control keeps to itself, and controls keep all of them.

/** Listen for keys that belong to a button of the page, whatever has the focus, but for fields in which somebody types. */
function listenForShortcuts() {
  window.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
      const target = event.composedPath()[0];
      if (target === document.body || target === document.documentElement || !isForThePage(event)) return;
      const button = buttonOfKey(event.key);
      if (!button) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!button.disabled && !event.repeat) button.click();
    },
    true,
  );
}

/** The button on which Streamlit shows that this key presses it. */
function buttonOfKey(key) {
  const labels = [...document.querySelectorAll("button [aria-label^='Shortcut ']")];
  const label = labels.find((one) => one.getAttribute("aria-label").slice("Shortcut ".length).toLowerCase() === key.toLowerCase());
  return label?.closest("button");
}
