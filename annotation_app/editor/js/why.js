// Why the record is labelled as it is: shown on request only, and not at all in blind mode, where the data hold none.

function renderWhy(editor) {
  const { box, body } = editor.parts.why;
  const { why } = editor.data;
  const known = why && typeof why === "object" && Object.values(why).some(isKnown);
  box.hidden = !known;
  const key = JSON.stringify(why ?? null);
  if (!known || editor.drawn.why === key) return;
  editor.drawn.why = key;
  body.replaceChildren(factsOf(why));
}

function isKnown(value) {
  return value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length);
}

function factsOf(facts) {
  const rows = Object.entries(facts).filter(([, value]) => isKnown(value));
  return element("dl", { className: "facts" }, rows.flatMap(([name, value]) => [element("dt", { textContent: readable(name) }), element("dd", { dir: "auto" }, [factOf(value)])]));
}

function factOf(value) {
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== "object")) return element("span", { textContent: value.join(", ") });
    return element("ul", { className: "fact-list" }, value.map((one) => element("li", {}, [factOf(one)])));
  }
  if (typeof value === "object" && value !== null) return factsOf(value);
  if (typeof value === "boolean") return element("span", { textContent: value ? "yes" : "no" });
  return element("span", { textContent: String(value) });
}
