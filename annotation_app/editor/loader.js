// What Streamlit sends with every change of the data. The editor itself comes by HTTP, once: it is a hundred times as long.
const ADDRESS = "__ADDRESS__";
let coming = null;
let sheet = null;

/** The module of the editor. A broken connection is tried again; a new query makes the browser ask anew. */
async function theEditor() {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await import(`${location.origin}${ADDRESS}${attempt ? `?attempt=${attempt}` : ""}`);
    } catch (error) {
      if (attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** attempt));
    }
  }
}

/** The style sheet is for the editor's shadow root. */
function dress(root, text) {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

export default async function mountWhenLoaded(component) {
  coming ??= theEditor();
  const editor = await coming;
  if (component.parentElement instanceof ShadowRoot) dress(component.parentElement, editor.styles);
  return editor.__MOUNT__(component);
}
