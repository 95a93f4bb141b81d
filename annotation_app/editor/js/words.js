// Where words and graphemes begin and end in the shown text. All positions are UTF-16 units of that text.

const segmentersByLocale = new Map();
const segmentsBySegmenter = new WeakMap(); // of the text asked about last: to begin a long one anew takes milliseconds

function segmenterFor(granularity, locale) {
  const tag = String(locale || "").replaceAll("_", "-"); // ours are written en_GB
  const name = `${granularity} ${tag}`;
  if (!segmentersByLocale.has(name)) {
    let made;
    try {
      made = new Intl.Segmenter(tag || undefined, { granularity });
    } catch {
      made = new Intl.Segmenter(undefined, { granularity });
    }
    segmentersByLocale.set(name, made);
  }
  return segmentersByLocale.get(name);
}

function segmentAround(text, unit, granularity, locale) {
  const segmenter = segmenterFor(granularity, locale);
  let held = segmentsBySegmenter.get(segmenter);
  if (held?.text !== text) {
    held = { text, segments: segmenter.segment(text) };
    segmentsBySegmenter.set(segmenter, held);
  }
  return held.segments.containing(unit);
}

/** [start, end] without blanks at its ends, then grown to whole words; null when only blanks were selected. */
function snappedToWords(text, start, end, locale) {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  if (start >= end) return null;
  const first = segmentAround(text, start, "word", locale);
  const last = segmentAround(text, end - 1, "word", locale);
  return [first.index, last.index + last.segment.length];
}

/** [start, end] grown to whole graphemes only: what Alt means. */
function snappedToGraphemes(text, start, end, locale) {
  if (start >= end) return null;
  const first = segmentAround(text, start, "grapheme", locale);
  const last = segmentAround(text, end - 1, "grapheme", locale);
  return [first.index, last.index + last.segment.length];
}

/** The next boundary to the right of `unit`: the end of the next word (blanks skipped), or of the next grapheme. */
function boundaryAfter(text, unit, granularity, locale) {
  let at = unit;
  while (at < text.length) {
    const found = segmentAround(text, at, granularity, locale);
    at = found.index + found.segment.length;
    if (granularity === "grapheme" || /\S/.test(found.segment)) return at;
  }
  return text.length;
}

/** The next boundary to the left of `unit`: the start of the word before it, or of the grapheme. */
function boundaryBefore(text, unit, granularity, locale) {
  let at = unit;
  while (at > 0) {
    const found = segmentAround(text, at - 1, granularity, locale);
    at = found.index;
    if (granularity === "grapheme" || /\S/.test(found.segment)) return at;
  }
  return 0;
}

/** Where an END may stop on its way left: behind the word before, so that no blank is left in the span. */
function endBefore(text, unit, granularity, locale) {
  let at = boundaryBefore(text, unit, granularity, locale);
  if (granularity === "word") while (at > 0 && /\s/.test(text[at - 1])) at -= 1;
  return at;
}

/** Where a START may stop on its way right: at the next word, so that no blank is left in the span. */
function startAfter(text, unit, granularity, locale) {
  let at = boundaryAfter(text, unit, granularity, locale);
  if (granularity === "word") while (at < text.length && /\s/.test(text[at])) at += 1;
  return at;
}
