// The panel of goals: the goal of the game, the viewer's progress, Objectives, continents, and a legend.

import { element, svg } from "risk/dom";
import { badge } from "risk/panels";

const NOT_IN_PLAY = -2; // holder of an Objective that is not in play
/** Signs on the map, with their meaning, by the field of the state that lists their territories. */
export const SIGNS = {
  cities: ["city", "City: counts for drafts and Objectives"],
  capitals: ["capital", "Capital of a player"],
  headquarters: ["headquarters", "Headquarters of a player"],
  airfields: ["airfield", "Airfield: adds 1 to the owner's highest die nearby"],
};

export class Goals {
  /** The panel in `root`. `goal` is the goal of the game in words, "" if it is unknown. */
  constructor(root, map, words, goal = "") {
    Object.assign(this, { map, words });
    this.goal = element("p", { class: "goal" }, goal);
    this.own = element("div", { class: "own" });
    this.objectives = element("ul", { class: "rows" });
    this.continents = element("ul", { class: "rows" });
    this.legend = element("ul", { class: "rows legend" });
    const part = (title, list) => element("section", { class: "part" }, element("h2", {}, title), list);
    this.parts = {
      objectives: part("Objectives", this.objectives),
      legend: part("Signs on the map", this.legend),
    };
    const aims = element(
      "section",
      { class: "part", "aria-label": "Goal" },
      element("h2", {}, "Goal"),
      this.goal,
      this.own,
    );
    root.replaceChildren(
      ...(goal ? [aims] : []),
      this.parts.objectives,
      part("Continents", this.continents),
      this.parts.legend,
    );
  }

  /** Show a state. `outlook` is the viewer's own progress from the server, or null. */
  draw(state, outlook) {
    this.own.replaceChildren(
      ...[...(outlook?.goals ?? []), outlook?.sets].filter(Boolean).map((words) => element("p", {}, words)),
    );
    this.continents.replaceChildren(
      ...this.map.continents.map((continent, c) => this.continent(continent, c, state)),
    );
    const objectives = state.objectives.flatMap((holder, o) =>
      holder === NOT_IN_PLAY || !this.map.objectives[o] ? [] : [this.objective(holder, o, state, outlook)],
    );
    this.objectives.replaceChildren(...objectives);
    this.parts.objectives.hidden = !objectives.length;
    this.drawLegend(state);
  }

  /** Return a row for a continent: its bonus, and its holder or the player who is closest to holding it. */
  continent({ name, bonus, colour }, c, state) {
    const members = this.map.continent_of.flatMap((of, t) => (of === c ? [t] : []));
    const counts = this.words.names.map((_, seat) => members.filter((t) => state.owner[t] === seat).length);
    const most = Math.max(...counts);
    const seat = counts.indexOf(most);
    const missing = members.filter((t) => state.owner[t] !== seat);
    const isOpen = !most || counts.filter((count) => count === most).length > 1;
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = colour;
    return element(
      "li",
      {},
      swatch,
      element("strong", {}, `${name} +${bonus}`),
      ...(isOpen ? [] : [badge(this.map, seat, this.words.names.length)]),
      element("span", {}, isOpen ? "nobody is close" : this.near(seat, missing, members.length)),
    );
  }

  /** Return in words who is closest to holding a continent of `size` territories, and what is missing. */
  near(seat, missing, size) {
    const name = this.words.name(seat);
    if (!missing.length) return `${name} holds it`;
    const few = missing.map((t) => this.words.place(t)).join(", ");
    return `${name} needs ${missing.length}${missing.length < 4 ? `: ${few}` : ` of ${size}`}`;
  }

  objective(holder, o, state, outlook) {
    const progress = holder < 0 ? (outlook?.objectives?.[o] ?? "") : `held by ${this.words.name(holder)}`;
    const parts = [
      element("strong", {}, this.words.objective(o, state.objective_rewards[o])),
      element("span", {}, progress),
    ];
    return element(
      "li",
      {},
      ...(holder < 0 ? [] : [badge(this.map, holder, this.words.names.length)]),
      ...parts,
    );
  }

  drawLegend(state) {
    const shown = Object.entries(SIGNS).filter(
      ([field]) =>
        (state[field] ?? []).some((t) => t >= 0) || (field === "headquarters" && state.own_headquarters >= 0),
    );
    const key = shown.map(([field]) => field).join();
    this.parts.legend.hidden = !shown.length;
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(...shown.map(([, [sign, words]]) => explained(sign, words)));
  }
}

/** A sign of the map with its meaning. */
function explained(sign, words) {
  const use = svg("use", { href: `#sign-${sign}`, x: -14, y: -14, width: 28, height: 28 });
  const picture = svg("svg", { class: "sign", viewBox: "-14 -14 28 28", "aria-hidden": "true" }, use);
  return element("li", {}, picture, element("span", {}, words));
}
