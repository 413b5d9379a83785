// A chess board as SVG, from the board part of a FEN.
const SVG = "http://www.w3.org/2000/svg";

function node(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The man on each of 64 squares, a8 first; "" where there is none. */
export function men(fen) {
  const squares = [];
  for (const row of fen.split(" ")[0].split("/")) {
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") squares.push(...Array(Number(letter)).fill(""));
      else squares.push(letter);
    }
  }
  return squares.concat(Array(64).fill("")).slice(0, 64);
}

const NAMES = Array.from({ length: 64 }, (_, i) => "abcdefgh"[i % 8] + (8 - Math.floor(i / 8)));

/** Squares on which two placements differ. */
export function differing(a, b) {
  const [one, other] = [men(a), men(b)];
  return NAMES.filter((_, i) => one[i] !== other[i]);
}

const squares = (wanted) => NAMES.map((_, i) => [i % 8, Math.floor(i / 8)])
  .filter(([x, y]) => (x + y) % 2 === wanted)
  .map(([x, y]) => `M${x * 45} ${y * 45}h45v45h-45z`).join("");
const [LIGHT, DARK] = [squares(0), squares(1)];

/**
 * Draws a placement. Marked squares get a ring with corners, so that the mark shows without colour;
 * doubted ones a question mark.
 */
export function diagram(fen, { marks = [], doubt = [], label = "", small = false } = {}) {
  const board = node("svg", {
    viewBox: small ? "0 0 360 360" : "-14 0 374 374",
    class: "diagram",
    role: "img",
    "aria-label": label,
  });
  // Two nodes and not 64: a wall shows a hundred boards.
  board.append(node("path", { d: LIGHT, class: "light" }), node("path", { d: DARK, class: "dark" }));
  men(fen).forEach((man, i) => {
    const [x, y] = [(i % 8) * 45, Math.floor(i / 8) * 45];
    const name = NAMES[i];
    if (marks.includes(name)) {
      board.append(node("rect", { x: x + 2, y: y + 2, width: 41, height: 41, class: "mark" }));
    }
    if (man) {
      const id = man === man.toUpperCase() ? `w${man}` : man;
      board.append(node("use", { href: `men.svg#${id}`, x, y, width: 45, height: 45 }));
    }
    if (doubt.includes(name)) {
      board.append(node("text", { x: x + 33, y: y + 17, class: "doubt" }, "?"));
    }
  });
  if (!small) {
    for (let i = 0; i < 8; i += 1) {
      board.append(node("text", { x: i * 45 + 22, y: 371, class: "edge" }, "abcdefgh"[i]));
      board.append(node("text", { x: -7, y: i * 45 + 27, class: "edge" }, String(8 - i)));
    }
  }
  return board;
}
