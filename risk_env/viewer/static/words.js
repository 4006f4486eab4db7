// Events in words (docs/public.md).

// Kinds of events without a sentence.
const SILENT = ["action", "roll", "turn", "turn_end"];

export class Words {
  /** `deck` is the option of the rules, such as "star". */
  constructor(map, names, seat, deck) {
    Object.assign(this, { map, names, seat, deck });
  }

  name(seat) {
    return seat === this.names.length ? "Neutral" : this.names[seat];
  }

  place(territory) {
    return this.map.territories[territory];
  }

  /** Return a card in words: the territory, and the stars or the symbol of the card. */
  card(card) {
    if (card === this.map.territories.length) return "wild card";
    const sign = this.deck === "star" ? plural(this.map.stars[card], "star") : this.map.symbols?.[card];
    return sign ? `${this.place(card)} (${sign})` : this.place(card);
  }

  cards(cards) {
    return cards.map((card) => this.card(card)).join(", ");
  }

  /** Return the sentence of an event without its subject, the seat. Return null if no sentence is needed. */
  sentence(event) {
    if (SILENT.includes(event.kind)) return null;
    const write = SENTENCES[event.kind];
    return write ? write(defaults(event), this) : event.kind;
  }

  /** Return simultaneous events as sentences with names. If no event has a sentence, describe the actions. */
  sentences(events) {
    const said = events
      .filter((event) => event.kind !== "round")
      .map((event) => [event.seat ?? -1, this.sentence(event)]);
    const found = said.filter(([, text]) => text);
    if (found.length) return found.map(([seat, text]) => (seat >= 0 ? `${this.name(seat)} ${text}` : text));
    const actions = events.filter((event) => event.text);
    return actions.map(({ seat, text }) => `${this.name(seat)} ${decided(text)}`);
  }

  /** Return a mission card in words (RULES 8). */
  mission(number, holder) {
    const mission = this.map.missions[number];
    if (!mission) return "";
    if (mission.kind === "continents") {
      const held = mission.continents.map((c) => this.map.continents[c].name).join(" and ");
      return `hold ${held}${mission.any_third ? " and a third continent" : ""}`;
    }
    if (mission.kind === "territories") {
      const each = mission.min_troops > 1 ? ` with at least ${mission.min_troops} troops each` : "";
      return `hold ${mission.territories} territories${each}`;
    }
    if (mission.target === holder) return `hold ${mission.fallback_territories} territories`;
    return `${this.names[mission.target] ?? `player ${mission.target}`} is eliminated`;
  }

  objective(number, reward) {
    const name = this.map.rewards[reward];
    return `${this.map.objectives[number]}${name ? ` [${name}]` : ""}`;
  }

  /** Return round, turn and decision of a state in one line. */
  status(state) {
    if (state.winner >= 0) return `Round ${state.round}: ${this.name(state.winner)} has won`;
    if (state.phase === "OVER") return `Round ${state.round}: nobody has won`;
    const round = state.round ? `Round ${state.round}` : "Set-up";
    const whose = state.turn >= 0 ? `, ${this.name(state.turn)}'s turn` : "";
    return `${round}${whose}${state.phase ? `: ${PHASES[state.phase] ?? ""}` : ""}`;
  }
}

function defaults(event) {
  return {
    territory: 0,
    source: 0,
    target: 0,
    other: 0,
    seat: -1,
    number: 0,
    losses: [0, 0],
    dice: [[], []],
    ...event,
  };
}

// Patterns of action texts, and a sentence for each pattern, for actions whose effects are not known yet.
const ACTIONS = [
  [/^done$/, () => "goes on to the next part of the turn"],
  [/^attack (.+) > (.+)$/, ([, source, target]) => `attacks ${target} from ${source}`],
  [/^(?:dice|defend) (\d)$/, ([, dice]) => `rolls ${dice === "1" ? "1 die" : `${dice} dice`}`],
  [/^from (.+)$/, ([, source]) => `moves troops from ${source}`],
  [/^to (.+)$/, ([, target]) => `moves troops to ${target}`],
];

/** Return a sentence for the text of an action that has no effect yet. */
function decided(text) {
  const [pattern, write] = ACTIONS.find(([pattern]) => pattern.test(text)) ?? [];
  return write ? write(text.match(pattern)) : `decides: ${text}`;
}

/** Return a probability in percent. */
export const share = (chance) => `${Math.round(100 * chance)} %`;
/** Return a probability with its confidence interval, such as `54 % [50–58]`. */
export const withInterval = (chance, interval) =>
  interval ? `${share(chance)} [${interval.map((end) => Math.round(100 * end)).join("–")}]` : share(chance);
export const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const placed = (verb) => (event, words) => `${verb} ${words.place(event.territory)}`;
/** Return the effect of the dice on the attacker's win probability, in words, or "" if it is unknown. */
const fortune = (luck) =>
  luck === undefined ? "" : ` (luck ${luck < 0 ? "−" : "+"}${Math.abs(100 * luck).toFixed(1)} %)`;
const moved = (event, words) =>
  `moves ${plural(event.number, "troop")} from ${words.place(event.source)} to ${words.place(event.target)}`;

const SENTENCES = {
  starter: () => "starts the game",
  mission: (event, words) => `has the mission: ${words.mission(event.number, event.seat)}`,
  cities: (event, words) => `Cities: ${event.territories.map((t) => words.place(t)).join(", ")}`,
  objectives: (event, words) =>
    `Objectives: ${event.objectives.map((o, i) => words.objective(o, event.rewards[i])).join(", ")}`,
  deal: () => "The territories are dealt",
  setup: () => "Territories and troops are set up at random",
  capitals: () => "The capitals are placed",
  headquarters: () => "The headquarters are placed",
  dealt: (event) => `gets ${plural(event.number, "card")}`,
  card: (event, words) => `has the card ${words.cards(event.cards)}`,
  round: (event) => `Round ${event.number}`,
  capital: placed("puts the capital in"),
  claim: placed("claims"),
  deploy: placed("deploys to"),
  deploy_neutral: placed("deploys a neutral troop to"),
  pick: () => "picks a headquarters in secret",
  reveal: (event, words) =>
    `Headquarters: ${event.territories.map((t, seat) => `${words.name(seat)} ${words.place(t)}`).join(", ")}`,
  trade: (event, words) => `trades ${words.cards(event.cards)} for ${plural(event.number, "troop")}`,
  bonus: (event, words) =>
    `gets ${plural(event.number, "troop")} on ${words.place(event.territory)} for its card`,
  draft: (event, words) => `places ${plural(event.number, "troop")} on ${words.place(event.territory)}`,
  reroll: (event) => `rolls a ${event.faces[0]} again: ${event.faces[1]}`,
  commander: (event) => `turns a ${event.faces[0]} to 6`,
  battle: (event, words) => {
    const dice = event.dice.map((faces) => faces.join(" ")).join(" against ");
    const [lost, killed] = event.losses;
    const rolls = event.number > 1 ? `in ${plural(event.number, "roll")}` : `with ${dice}`;
    const way = `${words.place(event.target)} from ${words.place(event.source)}`;
    return `attacks ${way} ${rolls}: loses ${lost}, kills ${killed}${fortune(event.luck)}`;
  },
  capture: (event, words) => `captures ${words.place(event.target)} with ${plural(event.number, "troop")}`,
  elimination: (event, words) => {
    const cards = event.number ? ` and takes ${plural(event.number, "card")}` : "";
    return `eliminates ${words.name(event.other)}${cards}`;
  },
  handed_over: (event, words) => `gets ${words.cards(event.cards)} from ${words.name(event.other)}`,
  occupy: moved,
  objective: (event, words) =>
    `takes the Objective ${words.objective(event.objectives[0], event.rewards?.[0])}`,
  airfield: placed("builds an airfield in"),
  draw: () => "draws a card",
  shuffle: (event) => `${plural(event.number, "discarded card")} shuffled into the deck`,
  skipped: () => "Many forced moves follow",
  move: moved,
  over: (event) => (event.seat < 0 ? "The game is over: nobody has won" : "has won the game"),
};

/** The decision of each phase, in two or three words. */
export const PHASES = {
  CAPITAL: "capital",
  CLAIM: "claim a territory",
  DEPLOY: "deploy a troop",
  DEPLOY_NEUTRAL: "deploy a neutral troop",
  HEADQUARTERS: "pick a headquarters",
  TRADE: "trade cards",
  BONUS: "bonus troops",
  DRAFT: "place troops",
  DRAFT_AMOUNT: "place troops",
  ATTACK: "attack",
  ATTACK_DICE: "attacker's dice",
  DEFEND: "defender's dice",
  REROLL: "re-roll a die",
  COMMANDER: "turn a die to 6",
  OCCUPY: "occupy",
  OBJECTIVE: "take an Objective",
  AIRFIELD: "build an airfield",
  FORTIFY_FROM: "fortify",
  FORTIFY_TO: "fortify",
  FORTIFY_AMOUNT: "fortify",
  ROLL: "dice are rolled",
  DRAW: "a card is drawn",
};
