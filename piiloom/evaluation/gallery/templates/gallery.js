"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const [form, words, found] = ["filters", "words", "found"].map(byId);
  const folded = (text) => text.normalize("NFC").toLowerCase();
  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  const filters = [...form.querySelectorAll("select")].map((select) => ({
    name: select.dataset.facet,
    select,
    options: [...select.options].map((option) => ({ option, name: option.textContent, values: option.value.split(" ").filter(Boolean) })),
  }));

  // What the files say, without labels and what this page writes between.
  function textOf(article) {
    const text = article.querySelector(".text")?.cloneNode(true);
    for (const each of text?.querySelectorAll(".label, .cut, summary") ?? []) each.remove();
    const others = [...article.querySelectorAll("h3, .question, tbody")].map((each) => each.textContent);
    return folded([text?.textContent ?? "", ...others].join("\n"));
  }

  const documents = [...document.querySelectorAll("#documents article")].map((article) => ({
    article,
    text: textOf(article),
    errors: [...article.querySelectorAll("tbody tr")].map((row) => ({
      row,
      held: Object.fromEntries(filters.map(({ name }) => [name, new Set(row.dataset[name].split(" "))])),
    })),
  }));
  const allErrors = documents.reduce((sum, { errors }) => sum + errors.length, 0);

  function update() {
    const asked = folded(words.value).split(/\s+/u).filter(Boolean);
    const wanted = filters.map(({ name, select }) => ({ name, values: select.value.split(" ").filter(Boolean) }));
    const holds = (error, { name, values }) => values.length === 0 || values.some((value) => error.held[name].has(value));
    const chosen = asked.length > 0 || wanted.some(({ values }) => values.length > 0);
    const tallies = filters.map(() => new Map());
    let shown = 0;
    let hits = 0;
    for (const { article, text, errors } of documents) {
      const reads = asked.every((word) => text.includes(word));
      let here = 0;
      for (const error of errors) {
        const fails = wanted.map((each, place) => (holds(error, each) ? -1 : place)).filter((place) => place >= 0);
        const hit = reads && fails.length === 0;
        here += hit ? 1 : 0;
        error.row.classList.toggle("hit", chosen && hit);
        // An option says how many errors there would be if it were chosen beside the other filters.
        filters.forEach(({ name }, place) => {
          if (!reads || fails.some((each) => each !== place)) return;
          for (const value of error.held[name]) tallies[place].set(value, (tallies[place].get(value) ?? 0) + 1);
        });
      }
      article.hidden = here === 0;
      shown += here ? 1 : 0;
      hits += here;
    }
    filters.forEach(({ options }, place) => {
      for (const { option, name, values } of options) {
        const number = values.reduce((sum, value) => sum + (tallies[place].get(value) ?? 0), 0);
        option.textContent = values.length ? `${name} (${number.toLocaleString("en")})` : name;
      }
    });
    const of = `of ${documents.length.toLocaleString("en")}, ${counted(hits, "error")} of ${allErrors.toLocaleString("en")}`;
    found.textContent = `${counted(shown, "document")} ${of}`;
  }

  let waiting;
  words.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 120); });
  for (const { select } of filters) select.addEventListener("change", update);
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => { event.preventDefault(); update(); });

  document.addEventListener("keydown", (event) => {
    const step = { j: 1, k: -1 }[event.key];
    const article = document.activeElement.closest("#documents article");
    if (!step || !article || event.ctrlKey || event.metaKey || event.altKey) return;
    const seen = documents.map((each) => each.article).filter((each) => !each.hidden);
    seen[seen.indexOf(article) + step]?.querySelector("h3 a").focus();
  });

  update();
})();
