"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const SHOWN = 10;
  const LABEL = 28;

  // Offsets are code points; a JavaScript string is indexed by UTF-16 units.
  const data = JSON.parse(byId("sample").textContent);
  const points = data.texts.map((text) => Array.from(text));
  const folded = (text) => text.normalize("NFC").toLowerCase();
  const records = data.records.map((record) => {
    const text = points[record.text];
    const values = record.spans.map(([start, end]) => text.slice(start, end).join(""));
    const types = record.spans.map((span) => data.types[span[2]]);
    const fields = { text: data.texts[record.text], question: record.question ?? "", value: values.join("\n"), type: types.join("\n") };
    for (const name of Object.keys(fields)) fields[name] = folded(fields[name]);
    fields.any = `${fields.text}\n${fields.question}\n${fields.type}`;
    return { record, fields };
  });

  function element(name, kind, content) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (content !== undefined) made.textContent = content;
    return made;
  }

  // A label stays on one line, as in the records above.
  function short(name) {
    const letters = Array.from(name);
    return letters.length <= LABEL ? name : `${letters.slice(0, LABEL - 1).join("")}…`;
  }

  function shown({ record }) {
    const text = points[record.text];
    const article = element("article", "family");
    const question = element("p", "question", record.question ?? "no question");
    question.dir = "auto";
    const context = element("p", "text");
    context.dir = "auto";
    let at = 0;
    for (const [start, end, type, relevance] of record.spans) {
      context.append(text.slice(at, start).join(""));
      const mark = element("mark", relevance ?? "unjudged", text.slice(start, end).join(""));
      const label = element("span", "label", `${short(data.types[type])} · ${relevance ?? "not judged"}`);
      label.dir = "ltr";
      mark.append(label);
      context.append(mark);
      at = end;
    }
    context.append(text.slice(at).join(""));
    const split = record.split === "all" ? "" : `, ${record.split}`;
    article.append(question, context, element("p", "how", `record ${record.id}${split}`));
    article.setAttribute("aria-label", `Record ${record.id}`);
    return article;
  }

  const [words, field, found, results, more] = ["words", "field", "found", "results", "more"].map(byId);
  let hits = [];
  function showMore() {
    const first = results.childElementCount;
    for (const hit of hits.slice(first, first + SHOWN)) results.append(shown(hit));
    more.hidden = results.childElementCount >= hits.length;
    return results.children[first];
  }
  function search() {
    const asked = folded(words.value).split(/\s+/u).filter(Boolean);
    hits = asked.length ? records.filter(({ fields }) => asked.every((word) => fields[field.value].includes(word))) : [];
    results.replaceChildren();
    showMore();
    const noun = hits.length === 1 ? "record" : "records";
    found.textContent = asked.length ? `${hits.length} ${noun} of ${records.length}` : "";
  }
  let waiting;
  words.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  field.addEventListener("change", search);
  words.form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  more.addEventListener("click", () => {
    const next = showMore();
    if (next) { next.tabIndex = -1; next.focus(); }
  });
})();
