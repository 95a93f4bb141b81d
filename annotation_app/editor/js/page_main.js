// What each page of the app does in the browser, beside what Streamlit does. Nothing of it is seen.

let pageIsHelped = false;

/** Called by Streamlit on each page; the listeners last as long as the document. */
function mountPage() {
  if (pageIsHelped) return;
  pageIsHelped = true;
  listenForShortcuts();
  watchConnection();
  listenForClicks();
}
