// From what a text field shows to what is stored, and back. A field shows every line end as LF, whatever the stored text has,
// so its value is never sent: only the stretch that was edited, in the stored text's own line ends.

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const GRAPHEME_WINDOW = 256;

// The text as a field shows it, and how code point offsets go over: toStored from shown to stored, toShown from stored to shown.
function displayOf(stored) {
  const shown = stored.replace(/\r\n?/g, "\n");
  const shrunk = []; // for each CRLF, the shown offset right behind its line end
  if (shown.length !== stored.length) {
    let point = 0;
    for (let i = 0; i < stored.length; i += 1) {
      const unit = stored.charCodeAt(i);
      if (isHighHalf(unit) && isLowHalf(stored.charCodeAt(i + 1))) i += 1;
      else if (unit === 13 && stored.charCodeAt(i + 1) === 10) {
        i += 1;
        shrunk.push(point + 1);
      }
      point += 1;
    }
  }
  const toStored = (point) => point + countUpTo(shrunk, (behind) => behind <= point);
  // The k-th CRLF has its LF at shrunk[k] + k in the stored text; an offset right before that LF is that of the line end.
  const toShown = (point) => point - countUpTo(shrunk, (behind, k) => behind + k <= point);
  return { shown, toStored, toShown };
}

// How many of the sorted values come before the first that does not fit.
function countUpTo(values, fits) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(values[middle], middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The edit {at, removed, inserted} of the stored text that a field tells whose text went from shownBefore to shownAfter;
// null when nothing changed. caret: the field's UTF-16 caret after the edit, which tells where in "aaa" an "a" was typed.
function editBetween(stored, shownBefore, shownAfter, caret = null) {
  if (shownBefore === shownAfter) return null;
  const { head, tail } = wholeGraphemes(shownBefore, shownAfter, changedStretch(shownBefore, shownAfter, caret));
  const display = displayOf(stored);
  const first = display.toStored(utf16ToPoint(shownBefore, head));
  const last = display.toStored(utf16ToPoint(shownBefore, shownBefore.length - tail));
  const from = pointToUtf16(stored, first);
  const to = from + pointToUtf16(stored.slice(from), last - first);
  const inserted = shownAfter.slice(head, shownAfter.length - tail).replaceAll("\n", lineEndOf(stored));
  return withoutNewPairs(stored, from, to, first, inserted);
}

// How many UTF-16 units stay the same at the front and at the back.
function changedStretch(before, after, caret) {
  const shorter = Math.min(before.length, after.length);
  const head = sharedHead(before, after, shorter);
  const tail = sharedTail(before, after, shorter - head);
  if (caret === null) return { head, tail };
  const tailAtCaret = sharedTail(before, after, Math.min(shorter, Math.max(0, after.length - caret)));
  const headAtCaret = sharedHead(before, after, shorter - tailAtCaret);
  // Only where the caret picks one of several edits of the same size: it may also stand somewhere else altogether.
  return headAtCaret + tailAtCaret === head + tail ? { head: headAtCaret, tail: tailAtCaret } : { head, tail };
}

function sharedHead(before, after, limit) {
  let head = 0;
  while (head < limit && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  return head;
}

function sharedTail(before, after, limit) {
  let tail = 0;
  while (tail < limit && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail += 1;
  return tail;
}

// The stretch widened until neither of its ends lies inside a grapheme (or a surrogate pair) of either text.
function wholeGraphemes(before, after, { head, tail }) {
  while (head > 0 && !(isGraphemeEdge(before, head) && isGraphemeEdge(after, head))) head -= 1;
  while (tail > 0 && !(isGraphemeEdge(before, before.length - tail) && isGraphemeEdge(after, after.length - tail))) tail -= 1;
  return { head, tail };
}

function isGraphemeEdge(text, i) {
  if (i <= 0 || i >= text.length) return true;
  if (text.charCodeAt(i) < 0x300 && text.charCodeAt(i - 1) < 0x300) return true; // LF only: no CRLF is ever shown
  // From the last blank, where no grapheme goes on, so that a long text need not be cut up from its beginning.
  let start = i - 1;
  while (start > 0 && i - start < GRAPHEME_WINDOW && !/[ \n]/.test(text[start])) start -= 1;
  return GRAPHEMES.segment(text.slice(start, i + GRAPHEME_WINDOW)).containing(i - start).index === i - start;
}

// The line end that the text uses most; LF when it has none.
function lineEndOf(text) {
  const counts = new Map([["\n", 0]]);
  for (const [end] of text.matchAll(/\r\n|\r|\n/g)) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

// The edit, seen to it that no CR comes to stand before an LF that is a line end of its own: the two would then show as one.
function withoutNewPairs(stored, from, to, at, inserted) {
  let start = from;
  let point = at;
  let text = inserted;
  if (text.endsWith("\r") && stored[to] === "\n") text = `${text.slice(0, -1)}\n`;
  while (start > 0 && stored[start - 1] === "\r" && (text === "" ? stored[to] : text[0]) === "\n") {
    start -= 1;
    point -= 1;
    text = `\n${text}`;
  }
  return { at: point, removed: stored.slice(start, to), inserted: text };
}
