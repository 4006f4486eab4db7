// The board as SVG. The map is drawn once. States change the colours, numbers, signs and arrows.

import { set, svg, write } from "risk/dom";

const DISC = 10;
const INK = "#1d2329";
const PAPER = "#ffffff";
const ATTACK = "#c3202f";
const PLAN = "#5b2a86";

export class Board {
  /**
   * A board for `map` (map_data.py) in the SVG element `root`. `names` are the names of the seats. The board
   * calls `tell` with the words for the territory under the mouse or a finger.
   */
  constructor(root, map, names, tell = () => {}) {
    Object.assign(this, { root, map, names, tell });
    this.players = names.length;
    root.addEventListener("mouseover", ({ target }) => this.describe(target));
    set(root, "viewBox", `0 0 ${map.width} ${map.height}`);
    this.added = {}; // troops that are composed but not played, by territory
    this.under = null; // area under the mouse or a finger
    this.arrows = svg("g", { class: "arrows" });
    this.plans = svg("g", { class: "arrows" });
    this.lights = svg("g", { class: "lights" });
    this.signs = svg("g", { class: "signs" });
    this.bubbles = svg("g", { class: "bubbles" });
    this.hints = svg("g", { class: "hints" });
    this.areas = map.areas.map((path, t) => this.area(path, t));
    this.textures = map.areas.map((path) => svg("path", { d: path, class: "texture", fill: "none" }));
    this.tokens = map.centres.map(([x, y]) => token(x, y));
    root.replaceChildren(
      svg("defs", {}, ...textures(map.colours.seats.length)),
      ...picture(map),
      ...map.continents.map(({ path, colour }) => svg("path", { d: path, class: "shore", stroke: colour })),
      ...this.areas,
      ...this.textures,
      svg("path", { d: map.inner, class: "inner" }),
      ...map.continents.map(({ path, edge }) => svg("path", { d: path, class: "edge", stroke: edge })),
      svg("path", { d: map.sea, class: "sea-line" }),
      svg("path", { d: map.one_way, class: "one-way" }),
      this.lights,
      this.hints,
      this.arrows,
      ...map.labels.map(([x, y, lines], t) => label(x, y, lines, t)),
      ...this.tokens.map(({ group }) => group),
      this.signs,
      this.plans,
      this.bubbles,
    );
  }

  area(path, t) {
    const title = svg("title");
    return svg(
      "path",
      { d: path, class: "area", "data-territory": t, "data-continent": this.map.continent_of[t] },
      title,
    );
  }

  /** Show a state and its latest events. */
  draw(state, events = []) {
    this.state = state;
    state.owner.forEach((owner, t) => this.territory(owner, state.troops[t], t));
    this.drawSigns(state);
    this.drawArrows(state, events);
    this.drawBubbles(events);
    if (this.under) this.describe(this.under);
  }

  /** Show troops that a player has composed but not confirmed. */
  compose(added) {
    if (JSON.stringify(added) === JSON.stringify(this.added)) return;
    this.added = added;
    if (!this.state) return;
    this.state.owner.forEach((owner, t) => this.territory(owner, this.state.troops[t], t));
    this.drawBubbles([]);
  }

  colour(seat) {
    const { seats, neutral, free } = this.map.colours;
    if (seat < 0) return free;
    return seat === this.players ? neutral : seats[seat % seats.length];
  }

  name(seat) {
    return seat === this.players ? "Neutral" : this.names[seat];
  }

  territory(owner, troops, t) {
    const [area, { group, box, text }] = [this.areas[t], this.tokens[t]];
    set(area, "fill", this.colour(owner));
    set(this.textures[t], "fill", owner >= 0 && owner < this.players ? `url(#texture-${owner})` : "none");
    set(group, "visibility", owner < 0 ? "hidden" : "visible");
    const words = shortNumber(troops + (this.added[t] ?? 0));
    set(group, "data-composed", t in this.added);
    const width = 2 * DISC + 6 * Math.max(0, words.length - 2);
    set(box, "width", width);
    set(box, "x", -width / 2);
    set(box, "fill", INK);
    write(text, words);
  }

  /** Describe the territory under the mouse in its title. */
  describe(area) {
    if (area.dataset.territory === undefined || !this.state) return;
    this.under = area;
    const t = Number(area.dataset.territory);
    const [owner, continent] = [this.state.owner[t], this.map.continents[this.map.continent_of[t]].name];
    const holder = owner < 0 ? "free" : `${this.name(owner)}, ${this.state.troops[t]}`;
    const words = `${this.map.territories[t]} (${continent}): ${holder}`;
    write(area.firstChild, words);
    this.tell(words);
  }

  // ------------------------------------------------------------------------------------------- signs

  drawSigns(state) {
    const marks = [
      ...state.cities.map((t) => ["city", t, -1, 9, -9]),
      ...state.airfields.map((t) => ["airfield", t, -1, 17, 2]),
      ...state.capitals.map((t, seat) => ["capital", t, seat, -14, -9]),
      ...state.headquarters.map((t, seat) => ["headquarters", t, seat, -14, -8]),
      ...(state.own_headquarters >= 0 ? [["headquarters", state.own_headquarters, -1, -14, -8]] : []),
    ].filter(([, t]) => t >= 0);
    const shown = JSON.stringify(marks);
    if (shown === this.shownSigns) return;
    this.shownSigns = shown;
    this.signs.replaceChildren(...marks.map((mark) => this.sign(...mark)));
  }

  sign(name, t, seat, dx, dy) {
    const [x, y] = this.map.centres[t];
    const place = { x: x + dx - 14, y: y + dy - 14, width: 28, height: 28 };
    const node = svg("use", { href: `#sign-${name}`, ...place });
    node.style.color = seat < 0 ? PAPER : this.colour(seat);
    return node;
  }

  // ------------------------------------------------------------------------------------------- events

  drawArrows(state, events) {
    const found = events.findLast((event) => event.source !== undefined && event.target !== undefined);
    const open =
      state.source >= 0 &&
      state.target >= 0 &&
      /ATTACK_DICE|DEFEND|ROLL|REROLL|COMMANDER|OCCUPY/.test(state.phase);
    const arrow = found ?? (open ? { ...state, kind: "attack" } : null);
    const peaceful = arrow && (arrow.kind === "move" || arrow.kind === "occupy");
    this.arrows.replaceChildren(
      ...(arrow ? this.arrow(arrow.source, arrow.target, peaceful ? INK : ATTACK) : []),
    );
  }

  /** Return an arrow between territories. The arrow ends before the disc, and may cross the map's edges. */
  arrow(source, target, colour) {
    const paths = this.way(source, target);
    const [[ax, ay], [bx, by]] = paths.at(-1);
    const length = Math.max(Math.hypot(bx - ax, by - ay), 1);
    const along = (distance) => [ax + ((bx - ax) * distance) / length, ay + ((by - ay) * distance) / length];
    const [tip, neck] = [along(length - DISC - 3), along(Math.max(0, length - DISC - 16))];
    const [nx, ny] = [((by - ay) * 9) / length, ((ax - bx) * 9) / length];
    const lines = [...paths.slice(0, -1), [[ax, ay], neck]];
    const shaft = lines.map(([from, to]) => `M${from}L${to}`).join("");
    const head = `M${tip}L${neck[0] + nx} ${neck[1] + ny}L${neck[0] - nx} ${neck[1] - ny}Z`;
    return [
      svg("path", {
        d: shaft + head,
        fill: "none",
        stroke: PAPER,
        "stroke-width": 8,
        "stroke-linejoin": "round",
      }),
      svg("path", { d: shaft, fill: "none", stroke: colour, "stroke-width": 5, "stroke-linecap": "round" }),
      svg("path", { d: head, fill: colour, stroke: colour, "stroke-width": 2, "stroke-linejoin": "round" }),
    ];
  }

  /** Draw the arrows of plans: [{source, target, words}]. `words` are at the middle of the arrow. */
  drawPlans(attacks) {
    this.plans.replaceChildren(
      ...attacks.flatMap(({ source, target }) => this.arrow(source, target, PLAN)),
      ...attacks.filter(({ words }) => words).map((attack) => this.planWords(attack)),
    );
  }

  planWords({ source, target, words }) {
    const [[ax, ay], [bx, by]] = this.way(source, target).at(-1);
    const width = 9 * words.length + 10;
    const box = svg("rect", {
      x: -width / 2,
      y: -11,
      width,
      height: 22,
      rx: 11,
      fill: PLAN,
      stroke: PAPER,
      "stroke-width": 1.5,
    });
    const text = svg("text", { y: 5, "text-anchor": "middle", class: "plan" }, words);
    const place = { transform: `translate(${(ax + bx) / 2} ${(ay + by) / 2})` };
    return svg("g", place, svg("g", { class: "plan-words" }, box, text));
  }

  way(source, target) {
    const [a, b] = [this.map.centres[source], this.map.centres[target]];
    const wrapped = this.map.wrapped.some(
      ([s, t]) => (s === source && t === target) || (s === target && t === source),
    );
    if (!wrapped) return [[a, b]];
    const height = (a[1] + b[1]) / 2;
    const [out, back] = a[0] <= b[0] ? [0, this.map.width] : [this.map.width, 0];
    return [
      [a, [out, height]],
      [[back, height], b],
    ];
  }

  drawBubbles(events) {
    const composed = Object.entries(this.added).map(([t, troops]) => [
      Number(t),
      troops > 0 ? `+${troops}` : `−${-troops}`,
    ]);
    const shown = composed.length ? composed : events.flatMap((event) => bubblesOf(event));
    this.bubbles.replaceChildren(...shown.map(([t, words]) => this.bubble(t, words)));
    this.now = events.flatMap(placesOf).map((t) => [t, "now"]);
    this.drawLights();
  }

  /** Highlight the territories that can be clicked, and mark the chosen territory. */
  light(territories, chosen = null) {
    this.lit = [...territories].map((t) => [t, "lit"]);
    if (chosen !== null) this.lit.push([chosen, "chosen"]);
    this.areas.forEach((area, t) =>
      set(
        area,
        "data-lit",
        this.lit.some(([place]) => place === t),
      ),
    );
    this.drawLights();
  }

  /** Mark the territory that a guide recommends. null: mark no territory. */
  hint(territory) {
    const paths = territory === null ? [] : [svg("path", { d: this.map.areas[territory] })];
    this.hints.replaceChildren(...paths);
  }

  drawLights() {
    const lights = [...(this.lit ?? []), ...(this.now ?? [])];
    this.lights.replaceChildren(
      ...lights.map(([t, kind]) => svg("path", { d: this.map.areas[t], class: kind })),
    );
  }

  /** Return a number beside a disc: troops gained or lost. */
  bubble(t, words) {
    const [x, y] = this.map.centres[t];
    const gained = words.startsWith("+");
    const box = svg("rect", { x: -15, y: -9, width: 30, height: 18, rx: 9, class: gained ? "gain" : "loss" });
    return svg(
      "g",
      { transform: `translate(${x + 24} ${y - 14})` },
      box,
      svg("text", { y: 4.6, "text-anchor": "middle" }, words),
    );
  }
}

/** Return territories and the troops that they gained or lost in an event. */
function bubblesOf(event) {
  if (event.kind === "battle") {
    const [attacker, defender] = event.losses ?? [0, 0];
    return [
      [event.source, `−${attacker}`],
      [event.target, `−${defender}`],
    ].filter(([, words]) => words !== "−0");
  }
  const places = ["capital", "claim", "deploy", "deploy_neutral", "bonus", "draft"];
  if (places.includes(event.kind)) return [[event.territory ?? 0, `+${event.number}`]];
  return event.kind === "move" || event.kind === "occupy" ? [[event.target, `+${event.number}`]] : [];
}

function placesOf(event) {
  return [event.territory, event.source, event.target].filter((place) => place !== undefined && place >= 0);
}

/** Return a number in at most five characters: 9999, 12k, 999k, 1M. */
export function shortNumber(number) {
  if (number < 10000) return String(number);
  return number < 1000000 ? `${Math.floor(number / 1000)}k` : `${Math.floor(number / 1000000)}M`;
}

/** Return the picture under the drawing, in a list that is empty if the map has no picture. */
function picture(map) {
  const size = { width: map.width, height: map.height, preserveAspectRatio: "none" };
  return map.picture ? [svg("image", { href: map.picture, class: "picture", ...size })] : [];
}

function token(x, y) {
  const box = svg("rect", { y: -DISC, height: 2 * DISC, rx: DISC, stroke: PAPER, "stroke-width": 1.5 });
  const text = svg("text", { y: 4.7, "text-anchor": "middle" });
  const group = svg("g", { transform: `translate(${x} ${y})` }, svg("g", { class: "token" }, box, text));
  return { group, box, text };
}

function label(x, y, lines, t) {
  const rows = lines.map((line, i) =>
    svg("tspan", { x, y: y + 12 * (i - (lines.length - 1) / 2) + 4.3 }, line),
  );
  return svg("text", { class: "label", "text-anchor": "middle", "data-label": t }, ...rows);
}

// ------------------------------------------------------------------------------------------------ textures

const STROKES = [
  [],
  ["M-2 2L2 -2M-1 11L11 -1M8 12L12 8"],
  ["M2.5 2.5h.01M7.5 7.5h.01"],
  ["M0 5H10"],
  ["M5 0V10"],
  ["M-2 8L2 12M-1 -1L11 11M8 -2L12 2"],
];

/** Return a pattern for every seat. The patterns distinguish seats without colours. */
export function textures(seats, prefix = "texture") {
  return Array.from({ length: seats }, (_, seat) => {
    const marks = STROKES[seat % STROKES.length].map((d) =>
      svg("path", { d, class: "texture-line", "data-seat": seat }),
    );
    const size = { width: 10, height: 10, patternUnits: "userSpaceOnUse" };
    return svg("pattern", { id: `${prefix}-${seat}`, ...size }, ...marks);
  });
}
