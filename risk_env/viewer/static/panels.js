// The panel of the players: their names, their holdings, and the player whose turn it is.

import { element, set, svg, write } from "risk/dom";
import { shortNumber, textures } from "risk/board";
import { plural, withInterval } from "risk/words";

const colourOf = (map, seat, players) =>
  seat === players ? map.colours.neutral : map.colours.seats[seat % map.colours.seats.length];

/** Return a small square in a seat's colour with its number. */
export function badge(map, seat, players) {
  const node = element(
    "span",
    { class: "badge", "aria-hidden": "true" },
    seat === players ? "N" : String(seat),
  );
  node.style.background = colourOf(map, seat, players);
  return node;
}

/** Return a square with a seat's colour, texture and number. */
function chip(map, seat, players) {
  const colour = colourOf(map, seat, players);
  const square = (fill) => svg("rect", { width: 28, height: 28, rx: 7, fill });
  const name = seat === players ? "N" : seat;
  return svg(
    "svg",
    { class: "chip", viewBox: "0 0 28 28", "aria-hidden": "true" },
    square(colour),
    square(seat === players ? "none" : `url(#chip-${seat})`),
    svg("text", { x: 14, y: 20.6, "text-anchor": "middle" }, name),
  );
}

/** Return the patterns that chips use. Each page needs the patterns once. */
export function chipTextures(map) {
  return svg(
    "svg",
    { class: "symbols", "aria-hidden": "true" },
    svg("defs", {}, ...textures(map.colours.seats.length, "chip")),
  );
}

export class Players {
  /** The panels of all players in `root`. `secrets` are their missions, if known. */
  constructor(root, map, words, secrets = {}) {
    Object.assign(this, { map, words, secrets });
    this.rows = words.names.map((name, seat) => this.row(name, seat));
    root.replaceChildren(...this.rows.map(({ node }) => node));
  }

  row(name, seat) {
    const parts = Object.fromEntries(
      ["holdings", "more", "chance"].map((part) => [part, element("span", { class: part })]),
    );
    const title = element("span", { class: "name" }, seat === this.words.seat ? `${name} (you)` : name);
    const head = element("span", { class: "head" }, title, parts.chance);
    const node = element(
      "li",
      { class: "player" },
      chip(this.map, seat, this.words.names.length),
      element("span", { class: "facts" }, head, parts.holdings, parts.more),
    );
    return { node, ...parts };
  }

  /** Draw a position, with each seat's win probability and, if known, its confidence interval. */
  draw(state, chances = null, intervals = null) {
    this.rows.forEach((row, seat) => {
      this.drawRow(row, seat, state);
      write(row.chance, chances ? withInterval(chances[seat], intervals?.[seat]) : "");
    });
  }

  drawRow(row, seat, state) {
    const held = state.owner.flatMap((owner, t) => (owner === seat ? [t] : []));
    const troops = held.reduce((sum, t) => sum + state.troops[t], 0);
    const cards = state.hand_sizes[seat];
    set(row.node, "data-turn", state.winner < 0 && state.turn === seat && state.phase !== "OVER");
    set(row.node, "data-won", state.winner === seat);
    set(row.node, "data-out", !state.alive[seat]);
    const facts = [
      `${held.length} terr.`,
      `${shortNumber(troops)} troop${troops === 1 ? "" : "s"}`,
      `+${state.income[seat]} a turn`,
      ...(cards === undefined ? [] : [plural(cards, "card")]),
    ];
    write(row.holdings, state.alive[seat] ? facts.join(" · ") : "out of the game");
    write(row.more, this.more(seat, state, held).join(" · "));
  }

  /** Return the continents, Objectives and Rewards of a seat, and the seat's mission and hand if known. */
  more(seat, state, held) {
    const { map, words } = this;
    const own = new Set(held);
    const continents = map.continents.filter((_, c) =>
      map.continent_of.every((of, t) => of !== c || own.has(t)),
    );
    const objectives = state.objectives.flatMap((holder, o) =>
      holder === seat && map.objectives[o] ? [map.objectives[o]] : [],
    );
    const rewards = state.rewards.flatMap((owner, r) => (owner === seat ? [`[${map.rewards[r]}]`] : []));
    const missions = state.missions ?? this.secrets.missions;
    const mission = seat === words.seat ? (state.mission ?? -1) : (missions?.[seat] ?? -1);
    const hand = seat === words.seat ? state.hand : state.hands?.[seat];
    const facts = [...continents.map(({ name }) => name), ...objectives, ...rewards];
    if (mission >= 0) facts.push(`Mission: ${words.mission(mission, seat)}`);
    if (hand?.length) facts.push(`Cards: ${words.cards(hand)}`);
    return facts;
  }
}
