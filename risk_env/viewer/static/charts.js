// Curves over a game, and the ribbon of territories above the slider.

import { element, set, svg } from "risk/dom";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [360, 120, 50, 16];
const DASHES = ["", "7 3", "2 3", "10 3 2 3", "5 5", "1 5"]; // distinguish seats without colours

/** A line for every seat. `points` is [{frame, values}]. A click calls `choose(frame)`. */
export class Chart {
  constructor(title, map, names, choose) {
    Object.assign(this, { map, names });
    this.frames = 1;
    this.lines = names.map((_, seat) =>
      svg("path", {
        class: "line",
        stroke: map.colours.seats[seat % 6],
        "stroke-dasharray": DASHES[seat % 6],
      }),
    );
    this.most = svg("text", { x: LEFT - 5, y: 10, "text-anchor": "end" });
    this.cursor = svg("path", { class: "cursor" });
    this.ends = names.map((_, seat) => svg("text", { class: "end" }, seat));
    this.axes = svg("path", { class: "axis" });
    this.zero = svg("text", { x: LEFT - 5, "text-anchor": "end" }, "0");
    this.least = svg("text", { x: LEFT - 5, y: HEIGHT - BOTTOM, "text-anchor": "end" });
    this.marks = svg("g", { class: "marks" });
    this.picture = svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH + 14} ${HEIGHT}`,
        role: "img",
        "aria-label": `${title} of every player over the game`,
      },
      this.axes,
      this.most,
      this.zero,
      this.least,
      this.cursor,
      ...this.lines,
      this.marks,
      ...this.ends,
    );
    this.picture.addEventListener("click", (event) => choose(this.frameAt(event)));
    this.node = element("figure", { class: "chart" }, element("figcaption", {}, title), this.picture);
  }

  /** Draw `points`, with a mark at each of `marks`: [{frame, seat, value}]. Values may be below 0. */
  draw(points, frames, format = String, marks = []) {
    this.frames = Math.max(1, frames - 1);
    this.points = points;
    const values = points.flatMap((point) => point.values);
    const [least, most] = [Math.min(0, ...values), Math.max(1e-9, ...values)];
    this.range = { least, most };
    const zero = this.y(0);
    set(this.axes, "d", `M${LEFT} 4V${HEIGHT - BOTTOM}M${LEFT} ${zero}H${WIDTH}`);
    set(this.zero, "y", zero + 4);
    this.most.textContent = zero > 22 ? format(most) : "";
    this.least.textContent = zero < HEIGHT - BOTTOM - 12 ? format(least) : "";
    this.drawEnds(this.lines.map((line, seat) => this.drawLine(line, seat, points)));
    this.marks.replaceChildren(...marks.map((mark) => this.mark(mark)));
  }

  mark({ frame, seat, value }) {
    const fill = this.map.colours.seats[seat % 6];
    return svg("circle", { class: "mark", cx: this.x(frame), cy: this.y(value), r: 4, fill });
  }

  /** Draw the line of a seat, and return the height at which it ends. */
  drawLine(line, seat, points) {
    const places = points.map(({ frame, values }) => [this.x(frame), this.y(values[seat])]);
    set(line, "d", `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`);
    return places.at(-1)?.[1] ?? 0;
  }

  /** Draw the numbers of the seats at the ends of their lines, without overlaps. */
  drawEnds(heights) {
    let lowest = HEIGHT;
    const order = heights.map((y, seat) => [y, seat]).sort(([a], [b]) => b - a);
    for (const [y, seat] of order) {
      lowest = Math.min(y + 4, lowest - 10);
      set(this.ends[seat], "x", WIDTH + 3);
      set(this.ends[seat], "y", lowest);
    }
  }

  x(frame) {
    return LEFT + ((WIDTH - LEFT) * frame) / this.frames;
  }

  y(value) {
    const { least, most } = this.range;
    return 6 + ((HEIGHT - BOTTOM - 6) * (most - value)) / (most - least);
  }

  frameAt(event) {
    const box = this.picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * (WIDTH + 14);
    return Math.round(Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT))) * this.frames);
  }

  point(frame) {
    set(this.cursor, "d", `M${this.x(frame).toFixed(1)} 4V${HEIGHT - BOTTOM}`);
  }
}

/** Return each seat's share of the map over time: stacked areas as wide as the slider. */
export function ribbon(samples, frames, map, players) {
  const total = map.territories.length;
  const width = Math.max(1, frames - 1);
  const steps = samples.map(({ frame, territories }, i) => ({
    from: frame,
    to: samples[i + 1]?.frame ?? width,
    territories,
  }));
  const bands = Array.from({ length: players }, (_, seat) => {
    const below = (territories) => territories.slice(0, seat).reduce((sum, count) => sum + count, 0) / total;
    const low = steps.flatMap(({ from, to, territories }) => [
      [from, below(territories)],
      [to, below(territories)],
    ]);
    const high = steps.flatMap(({ from, to, territories }) => [
      [from, below(territories) + territories[seat] / total],
      [to, below(territories) + territories[seat] / total],
    ]);
    const path = [...low, ...high.reverse()].map(([x, y]) => `${x} ${(100 * (1 - y)).toFixed(1)}`).join("L");
    return svg("path", { d: `M${path}Z`, fill: map.colours.seats[seat % 6] });
  });
  return svg(
    "svg",
    { class: "ribbon", viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...bands,
  );
}
