// Dice: the attacker's red, the defender's white.

import { element, svg } from "risk/dom";

const CORNERS = [
  [-1, -1],
  [1, 1],
  [1, -1],
  [-1, 1],
];

/** Return the pips of a face. Each pip is a pair [column, row] of the numbers -1, 0 and 1. */
function pips(face) {
  const middle = face % 2 ? [[0, 0]] : [];
  const sides =
    face === 6
      ? [
          [-1, 0],
          [1, 0],
        ]
      : [];
  return [...middle, ...CORNERS.slice(0, Math.min(4, Math.floor(face / 2) * 2)), ...sides];
}

function die(face, side) {
  const spots =
    face > 6
      ? [svg("text", { y: 5, "text-anchor": "middle" }, face)]
      : pips(face).map(([column, row]) => svg("circle", { cx: 8 * column, cy: 8 * row, r: 2.8 }));
  return svg(
    "svg",
    { class: `die ${side}`, viewBox: "-15 -15 30 30", "aria-hidden": "true" },
    svg("rect", { x: -14, y: -14, width: 28, height: 28, rx: 6 }),
    ...spots,
  );
}

/** Return an element with the dice of a roll. A label has the dice in words. */
export function diceOf(event) {
  const [attacker, defender] = event.dice ?? event.rolled;
  const said = `attacker ${attacker.join(" ")}, defender ${defender.join(" ")}`;
  return element(
    "span",
    { class: "dice", role: "img", "aria-label": `Dice: ${said}` },
    ...attacker.map((face) => die(face, "attacker")),
    element("span", { class: "versus" }, "–"),
    ...defender.map((face) => die(face, "defender")),
  );
}
