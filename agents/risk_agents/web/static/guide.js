// The guide of the first game: a card that explains each part of a turn when this part first occurs.

import { element, write } from "risk/dom";
import { percent } from "risk/question";

const GUIDED = "guided game"; // no game has this name
const ADVISED = "Curlew"; // territory of first_game.txt; the person lacks one territory of its continent

/** Let the page of a new game show the guide. */
export function guideGame(game) {
  sessionStorage.setItem(GUIDED, game);
}

export const isGuided = (game) => sessionStorage.getItem(GUIDED) === game;

export class Guide {
  /** Create the guide for the questions of `asker`, as a card before the main part of the page. */
  constructor(asker, facts) {
    Object.assign(this, { asker, facts });
    this.isBegun = false; // true if the person has read the goal of the game
    this.hasCaptured = false; // true if the person has taken a territory
    this.hasEnded = false; // true if the person has ended a turn
    this.words = element("p", { class: "advice", role: "status" });
    this.step = element("span", { class: "about" });
    this.next = element("button", { type: "button", class: "main" });
    this.skip = element("button", { type: "button" }, "Skip the guide");
    const row = element("div", { class: "row" }, this.step, this.skip, this.next);
    this.card = element("section", { class: "guide", "aria-label": "Guide" }, this.words, row);
    document.querySelector("main").before(this.card);
    document.body.dataset.guided = "true";
    this.skip.addEventListener("click", () => this.end());
    this.next.addEventListener("click", () => this.goOn());
    asker.drawn = () => this.show();
    this.show();
  }

  /** Note the events of new frames. */
  add(frames) {
    for (const { kind, seat } of frames.flatMap(([, events]) => events)) {
      if (seat !== this.facts.seat) continue;
      this.hasCaptured ||= kind === "capture";
      this.hasEnded ||= kind === "turn_end";
    }
  }

  goOn() {
    if (this.isBegun) return this.end();
    this.isBegun = true;
    this.show();
    return this.asker.focus();
  }

  end() {
    sessionStorage.removeItem(GUIDED);
    this.asker.drawn = () => {};
    this.asker.board.hint(null);
    this.card.remove();
    delete document.body.dataset.guided;
    this.asker.focus();
  }

  /** Show the advice for the current decision. */
  show() {
    const name = this.name();
    const [step, words, territory = null] = ADVICE[name](this);
    write(this.words, words);
    write(this.step, `${step} of 6`);
    write(this.next, name === "goal" ? "Next" : "Finish");
    this.next.hidden = !["goal", "finish"].includes(name);
    this.skip.hidden = name === "finish";
    this.asker.board.hint(territory);
  }

  /** Return the name of the current advice in ADVICE. */
  name() {
    const { question, source } = this.asker;
    if (!this.isBegun) return "goal";
    if (!question) return this.hasEnded ? "wait" : "play";
    if (question.complete) return "confirm";
    if (this.hasEnded) return "finish";
    if (question.phase === "ATTACK" && source !== null) return "odds";
    if (question.phase === "ATTACK") return this.hasCaptured ? "again" : "attack";
    return { DRAFT: "place", OCCUPY: "occupy" }[question.phase] ?? "fortify";
  }

  get opponent() {
    return this.facts.names[1 - this.facts.seat];
  }

  place(t) {
    return this.facts.map.territories[t];
  }

  /** Return the territory for the new troops, its continent, and the missing territory of the continent. */
  plan() {
    const { territories, continents, continent_of } = this.facts.map;
    const { owner } = this.asker.board.state;
    const advised = territories.indexOf(ADVISED);
    const c = continent_of[advised];
    const wanted = territories.find((_, t) => continent_of[t] === c && owner[t] !== this.facts.seat);
    return { advised, continent: continents[c].name, wanted };
  }

  /** Return the attack with the best odds, from the chosen territory if there is one. */
  best() {
    const { question, source } = this.asker;
    return question.legal
      .filter(({ kind, places }) => kind === "attack" && (source === null || places[0] === source))
      .reduce((best, attack) => (attack.chance > (best?.chance ?? -1) ? attack : best), null);
  }
}

/** The advice of every step: its number, its sentences, and a territory to mark. */
const ADVICE = {
  goal: ({ opponent, facts }) => [
    1,
    `You play against ${opponent}. You win when you hold all ${facts.map.territories.length} territories. ` +
      "A turn has three parts: place troops, attack, move troops. This guide explains one turn.",
  ],
  place: (guide) => {
    const { advised, continent, wanted } = guide.plan();
    return [
      2,
      `You get ${guide.asker.question.placeable} new troops. More territories and whole continents give ` +
        `more troops. Choose ${ADVISED}. If you also take its neighbour ${wanted}, you hold the whole ` +
        `continent ${continent}.`,
      advised,
    ];
  },
  confirm: ({ hasEnded }) => [
    hasEnded ? 6 : 2,
    "The board shows your choice. Confirm plays it; Undo takes it back.",
  ],
  attack: (guide) => {
    const [source] = guide.best().places;
    return [3, `Now attack. Choose ${guide.place(source)}: arrows show every attack from there.`, source];
  },
  odds: (guide) => {
    const { chance, places } = guide.best();
    return [
      3,
      "Each arrow shows the chance to take the territory. Attack where the chance is high: " +
        `${guide.place(places[1])} falls with a chance of ${percent(chance)}.`,
      places[1],
    ];
  },
  occupy: () => [
    4,
    "The territory is yours. Move most of the troops into it, so that they can attack again. " +
      "A territory that borders only your own territories needs a single troop.",
  ],
  again: () => [
    4,
    "You took a territory, so you get a card at the end of the turn. " +
      "You can trade a set of three cards for troops. " +
      "Attack again while the chances are good, or end your attacks.",
  ],
  fortify: () => [
    5,
    "Once a turn you can move troops through your territories. Choose the territory that gives troops, " +
      "then a border territory that gets the troops. You can also end the turn.",
  ],
  play: () => [3, "The dice are rolled."],
  wait: ({ opponent }) => [6, `Now ${opponent} plays. The tab Events shows every move.`],
  finish: () => [
    6,
    "You have played a whole turn. Play on until all territories are yours. " +
      "The tab Goals shows the continents and their bonuses.",
  ],
};
