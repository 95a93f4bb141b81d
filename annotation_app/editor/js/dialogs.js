// Small dialogs: the reason of a rejection, the comment of a flag, and all keys. The browser's own <dialog> keeps focus inside.

function openDialog(editor, title, children, buttons) {
  const dialog = element("dialog", { className: "dialog", "aria-label": title }, [
    element("h2", { textContent: title }),
    ...children,
    element("div", { className: "dialog-buttons" }, buttons),
  ]);
  const before = editor.shadow.activeElement;
  const closed = () => {
    dialog.remove();
    editor.dialog = null;
    if (before && before.isConnected) before.focus({ preventScroll: true });
    else editor.parts.context.surface.focus({ preventScroll: true });
  };
  dialog.addEventListener("close", closed, { once: true });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) closeDialog(editor); // the backdrop
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation(); // with the dialog gone, the editor would take the key as well and let go of the selection
    closeDialog(editor);
  });
  editor.parts.floating.append(dialog);
  editor.dialog = dialog;
  dialog.showModal();
  return dialog;
}

/** Close at once: the browser's own event comes a moment later, and a key pressed in between would be lost. */
function closeDialog(editor) {
  const { dialog } = editor;
  if (!dialog) return;
  dialog.close();
  dialog.dispatchEvent(new Event("close"));
}

/** A dialog with one text; `act(text)` runs on Enter or the button, and the dialog closes unless it gives false. */
function askForText(editor, { title, label, value, button, extra = [], act }) {
  const area = element("textarea", { className: "dialog-text", rows: 3, value, "aria-label": label, placeholder: label });
  const submit = () => {
    const text = area.value.trim();
    if (!text) {
      area.setAttribute("aria-invalid", "true");
      area.focus();
      return;
    }
    closeDialog(editor);
    act(text);
  };
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  const close = keyedButton("Cancel", "Esc", () => closeDialog(editor), { className: "quiet" });
  openDialog(editor, title, [area], [...extra, element("span", { className: "space" }), close, keyedButton(button, "Enter", submit, { className: "primary" })]);
  area.focus();
  area.select();
}

function openReject(editor) {
  if (!mayEdit(editor) || editor.leaving) return;
  askForText(editor, {
    title: "Reject this record",
    label: "Why? Others will read it.",
    value: editor.model.state.reason || "",
    button: "Reject",
    act: (reason) => {
      if (perform(editor, { op: "reject", reason }, "Rejected") && editor.data.mode !== "practice") whenSettled(editor, () => go(editor, "next"));
    },
  });
}

function openFlag(editor) {
  if (!mayEdit(editor) || editor.leaving) return;
  const { flag } = editor.model.state;
  const unflag = keyedButton("Remove the flag", "", () => {
    closeDialog(editor);
    perform(editor, { op: "unflag" }, "Flag removed");
  });
  askForText(editor, {
    title: "Flag this record",
    label: "What should somebody look at?",
    value: flag || "",
    button: "Flag",
    extra: flag ? [unflag] : [],
    act: (comment) => perform(editor, { op: "flag", comment }, "Flagged"),
  });
}

function openHelp(editor) {
  const groups = new Map();
  for (const row of KEYS) {
    if (!row.help) continue;
    if (!groups.has(row.group)) groups.set(row.group, []);
    groups.get(row.group).push(row);
  }
  const tables = [...groups].map(([group, rows]) =>
    element("section", {}, [
      element("h3", { textContent: group }),
      element("dl", { className: "keys" }, rows.flatMap((row) => [element("dt", {}, keyCaps(row.shown)), element("dd", { textContent: row.help })])),
    ]),
  );
  const { help } = editor.data;
  const more = typeof help === "string" && help ? [element("h3", { textContent: "Guidelines" }), element("p", { className: "help-text", textContent: help, dir: "auto" })] : [];
  const close = keyedButton("Close", "Esc", () => closeDialog(editor), { className: "primary" });
  const dialog = openDialog(editor, "Keys", [element("div", { className: "key-groups" }, tables), ...more], [close]);
  dialog.classList.add("help");
  close.focus();
}

function keyCaps(shown) {
  return shown.split(" ").map((key) => element("kbd", { textContent: key }));
}
