// The list of records as a table. All words are set as text, never as HTML. Each row has a real link, so that a record can also be opened in
// another tab, by keys, and by a screen reader; a plain click anywhere in the row opens it here.

function made(tag, fields = {}, children = []) {
  const { dataset, ...rest } = fields;
  const one = Object.assign(document.createElement(tag), rest);
  Object.assign(one.dataset, dataset || {});
  one.append(...children);
  return one;
}

function rowOf(row, columns, open) {
  const link = made("a", { href: `/work?record=${encodeURIComponent(row.id)}`, textContent: row.name, dir: "auto", className: "name" });
  const text = made("div", { textContent: row.text, dir: "auto", className: "excerpt" });
  const cells = columns.map((column) => made("td", { textContent: row.cells[column] ?? "", dir: "auto" }));
  const line = made("tr", { dataset: { record: row.id } }, [made("th", { scope: "row" }, row.text ? [link, text] : [link]), ...cells]);
  line.addEventListener("click", (event) => {
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
    if (elsewhere) return; // the browser opens the link in another tab or window
    if (String(line.getRootNode().getSelection?.() ?? getSelection())) return; // somebody selects words to copy them
    event.preventDefault();
    open(row.id);
  });
  return line;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const { rows, columns } = data;
  const open = (id) => setTriggerValue("open", id);
  const head = made("tr", {}, ["Question and text", ...columns].map((title) => made("th", { scope: "col", textContent: title })));
  const body = made("tbody", {}, rows.map((row) => rowOf(row, columns, open)));
  const table = made("table", { ariaLabel: "Records" }, [made("thead", {}, [head]), body]);
  let frame = parentElement.querySelector(".records");
  if (!frame) parentElement.append((frame = made("div", { className: "records" })));
  frame.replaceChildren(table);
}
