// Offsets: the store and the wire count code points, JavaScript counts UTF-16 units. Everything that crosses goes through here.
// A low half without its high half counts as a code point of its own, as Python has it.

function isHighHalf(unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowHalf(unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

function isInsidePair(text, i) {
  return i > 0 && i < text.length && isLowHalf(text.charCodeAt(i)) && isHighHalf(text.charCodeAt(i - 1));
}

// The code points of a text, each as a string.
function toPoints(text) {
  return Array.from(text);
}

// How many code points a text has.
function pointLength(text) {
  return utf16ToPoint(text, text.length);
}

// The code point offset of the UTF-16 offset i; inside a pair it is that of the pair's start.
function utf16ToPoint(text, i) {
  const end = isInsidePair(text, i) ? i - 1 : Math.min(i, text.length);
  let points = 0;
  for (let k = 0; k < end; k += 1) {
    if (isHighHalf(text.charCodeAt(k)) && k + 1 < end && isLowHalf(text.charCodeAt(k + 1))) k += 1;
    points += 1;
  }
  return points;
}

// The UTF-16 offset of a code point offset; past the end it is the length.
function pointToUtf16(text, point) {
  let k = 0;
  for (let left = point; left > 0 && k < text.length; left -= 1) {
    k += isHighHalf(text.charCodeAt(k)) && isLowHalf(text.charCodeAt(k + 1)) ? 2 : 1;
  }
  return k;
}

// What stands between two code point offsets.
function slicePoints(text, start, end) {
  const from = pointToUtf16(text, start);
  const length = pointToUtf16(text.slice(from), Math.max(0, end - start));
  return text.slice(from, from + length);
}
