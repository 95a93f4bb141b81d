// Stored code points and what the page shows: line ends appear as LF, and the DOM counts UTF-16 units.

/** {shown, points, toShown(point), toPoint(unit)} of a stored text; built once a text, each question then costs nothing. */
function textMap(stored) {
  const units = new Int32Array(stored.length + 1);
  const pieces = [];
  let point = 0;
  let shownLength = 0;
  let from = 0;
  for (let i = 0; i < stored.length; point += 1) {
    units[point] = shownLength;
    const code = stored.charCodeAt(i);
    if (code === 13) {
      pieces.push(stored.slice(from, i), "\n");
      shownLength += 1;
      i += 1;
      if (stored.charCodeAt(i) === 10) {
        point += 1;
        units[point] = shownLength - 1; // a place between CR and LF shows before the line end
        i += 1;
      }
      from = i;
    } else {
      const width = isHighHalf(code) && isLowHalf(stored.charCodeAt(i + 1)) ? 2 : 1;
      shownLength += width;
      i += width;
    }
  }
  pieces.push(stored.slice(from));
  units[point] = shownLength;
  return withInverse(pieces.join(""), units, point);
}

function withInverse(shown, units, length) {
  const inverse = new Int32Array(shown.length + 1).fill(-1);
  for (let point = length; point >= 0; point -= 1) inverse[units[point]] = point;
  for (let unit = 1; unit < inverse.length; unit += 1) if (inverse[unit] < 0) inverse[unit] = inverse[unit - 1];
  return {
    shown,
    points: length,
    toShown: (point) => units[Math.max(0, Math.min(point, length))],
    toPoint: (unit) => inverse[Math.max(0, Math.min(unit, shown.length))],
    slice: (start, end) => shown.slice(units[start], units[end]),
  };
}
