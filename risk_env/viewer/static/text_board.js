// The board as text: the territories of each continent, with their owners and troops.

import { element, write } from "risk/dom";
import { SIGNS } from "risk/goals";
import { plural } from "risk/words";

export class TextBoard {
  /** Write the lists into `root`. */
  constructor(root, map, words) {
    Object.assign(this, { map, words });
    this.rows = map.territories.map(() => element("li"));
    root.replaceChildren(...map.continents.map((continent, c) => this.part(continent, c)));
  }

  part({ name, bonus }, c) {
    const rows = this.rows.filter((_, t) => this.map.continent_of[t] === c);
    const title = element("h2", {}, `${name}, bonus ${bonus}`);
    return element("section", { class: "part" }, title, element("ul", { class: "rows" }, ...rows));
  }

  draw(state) {
    this.rows.forEach((row, t) => write(row, this.line(state, t)));
  }

  /** A territory with its owner, its troops and its signs: "Alaska: Ann, 3 troops, capital". */
  line(state, t) {
    const [owner, troops] = [state.owner[t], state.troops[t]];
    const held = owner < 0 ? "free" : `${this.words.name(owner)}, ${plural(troops, "troop")}`;
    const signs = Object.keys(SIGNS).filter((field) => (state[field] ?? []).includes(t));
    if (state.own_headquarters === t && !signs.includes("headquarters")) signs.push("headquarters");
    return [`${this.map.territories[t]}: ${held}`, ...signs.map((field) => SIGNS[field][0])].join(", ");
  }
}
