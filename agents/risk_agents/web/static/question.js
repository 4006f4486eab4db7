// The question to a seat, and its answers: clicks and taps on the board, buttons, numbers and keys.

import { element, set, write } from "risk/dom";
import { plural } from "risk/words";

const byId = (id) => document.getElementById(id);
export const percent = (share) =>
  share > 0.995 ? "over 99 %" : share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`;

/** Return the odds of an attack in words, or "" if Rewards change the dice of the attack. */
const oddsOf = ({ chance }) => (chance === undefined ? "" : `: ${percent(chance)} to take it in a blitz`);

/** Verbs of the buttons for numbers of troops, by phase. */
const AMOUNTS = { DRAFT_AMOUNT: "Place", OCCUPY: "Move", FORTIFY_AMOUNT: "Move" };
const PLACES = { DRAFT: Infinity, DEPLOY: 1, DEPLOY_NEUTRAL: 1 }; // default number of troops per click
const COMMANDS = ["undo", "confirm", "settle"]; // commands to the server that can be typed
const KEYS = { done: "d", blitz: "b", all: "a", half: "h" };

export class Asker {
  /**
   * `send(answer, question)` plays an answer. `asksBack()` is called before the player gives up attacks that
   * probably succeed; the action is played only if the result is true. With `composes`, choices wait for
   * confirmation. `back()` leads to the current moment.
   */
  constructor(send, { asksBack = () => true, composes = false, back = () => {} } = {}) {
    Object.assign(this, { send, asksBack, composes, back });
    this.board = null; // the board (board.js), set by use()
    this.question = null;
    this.words = ""; // status without a question, or the reason for a refusal
    this.isPast = false; // true if the board shows an earlier moment
    this.source = null; // source of the attack, chosen by the first click
    this.picked = null; // answer whose territory has been touched once
    this.hadFocus = false; // true if the keyboard focus was in the question before its buttons were replaced
    this.hasOdds = false; // true if the board shows odds of attacks
    this.drawn = () => {}; // called when the question has been drawn
    this.each = {}; // number of troops per click, by phase
    document.addEventListener("keydown", (event) => this.key(event));
    byId("answers").addEventListener(
      "keydown",
      (event) => event.target.matches("input") && event.stopPropagation(),
    );
  }

  /** Answer questions by clicks on a board, and highlight its territories. */
  use(board) {
    this.board = board;
    board.root.addEventListener("click", (event) => this.click(event));
    board.root.addEventListener("mouseover", (event) => this.point(event.target.dataset.territory));
  }

  /** Show a question and its answers, or a status. */
  ask(question, words = "") {
    Object.assign(this, { question, words, source: null, picked: null });
    this.draw();
  }

  /** Show a status with buttons, given as words and functions. */
  tell(words, buttons) {
    this.ask(null, words);
    byId("answers").replaceChildren(
      ...buttons.map(([name, act], i) => this.plain(name, act, i ? null : "main")),
    );
  }

  /** Note whether the board shows an earlier moment, at which no question can be answered. */
  look(isPast) {
    if (isPast === this.isPast) return;
    Object.assign(this, { isPast, source: null, picked: null });
    if (this.question) this.draw();
  }

  get isOpen() {
    return Boolean(this.question) && !this.isPast;
  }

  draw() {
    const here = byId("question").contains(document.activeElement);
    this.hadFocus = here || (this.hadFocus && document.activeElement === document.body);
    const { question } = this;
    set(byId("question"), "data-asked", this.isOpen);
    write(byId("asked"), question ? this.title() : this.words);
    const isRefused = Boolean(question && this.words && !this.isPast);
    set(byId("hint"), "role", isRefused ? "alert" : "note");
    write(byId("hint"), question ? this.hint() : "");
    byId("answers").replaceChildren(...(this.isOpen ? this.answers() : []));
    byId("commands").replaceChildren(...(question ? this.commands() : []));
    this.light();
    if (this.hadFocus) this.focus();
    this.drawn();
  }

  /** Move the keyboard focus to the first answer, or else to another button or the text of the question. */
  focus() {
    const answers = byId("answers");
    const first = answers.querySelector("button.main") ?? answers.querySelector("button[data-action]");
    const { firstElementChild: sentences } = byId("question").querySelector(".question-head");
    (first ?? byId("question").querySelector("button") ?? sentences).focus();
  }

  answer(action) {
    const { question } = this;
    const { kind } = question.legal.find((choice) => choice.action === action);
    const leavesMuch = question.legal.some((choice) => choice.kind === "attack" && choice.chance > 0.5);
    if (kind === "done" && leavesMuch && !this.asksBack()) return;
    const places = this.composes && kind === "territory" && (this.count > 1 || question.phase === "DRAFT");
    this.give(
      places ? { action, troops: this.countAt(action) } : { action },
      kind === "done" && question.phase !== "TRADE",
    );
  }

  /** Answer in words, as in the terminal. */
  say(words) {
    const said = words.trim().toLowerCase();
    if (!this.isOpen || !said) return;
    if (COMMANDS.includes(said)) this.give({ command: said });
    else this.give({ words }, said === "done" && this.question.phase !== "TRADE");
  }

  /** Send an answer. An answer that can be undone waits for its confirmation, unless `atOnce` is true. */
  give(answer, atOnce = false) {
    const { question } = this;
    const waits = this.composes && question.composes && !atOnce && !answer.command;
    this.ask(null, "…");
    this.send(waits ? { ...answer, compose: true } : answer, question);
  }

  /** Number of troops that a click on a territory places, if the territory has room. */
  get count() {
    const { phase, placeable } = this.question;
    return this.composes && placeable ? Math.min(placeable, this.each[phase] ?? PLACES[phase]) : 1;
  }

  /** Return the number of troops that a click places, at most the room of the action's territory. */
  countAt(action) {
    const { room } = this.question.legal.find((choice) => choice.action === action);
    return Math.min(this.count, room ?? 1);
  }

  // --------------------------------------------------------------------------------------------- words

  place(t) {
    return this.board.map.territories[t];
  }

  title() {
    const { question, board } = this;
    if (this.isPast) return "You are looking at an earlier moment.";
    if (this.picked !== null) return `${this.picked.words}?`;
    if (question.complete) return `Confirm: ${question.composed.join("; ") || "your choices"}`;
    return TITLES[question.phase]({
      ...question,
      name: (t) => this.place(t),
      troops: (t) => board.state.troops[t],
    });
  }

  hint() {
    const { question, picked } = this;
    if (this.isPast) return "The board is read-only here. Your decision waits.";
    if (this.words) return this.words; // why an answer was refused
    if (question.complete) return "Nothing is played until you confirm.";
    if (picked !== null) return "Touch the territory again to confirm, or touch another territory.";
    const soFar = question.composed.length ? `So far: ${question.composed.join("; ")}. ` : "";
    return soFar + (question.note || HINTS[question.phase]);
  }

  // --------------------------------------------------------------------------------------------- answers

  answers() {
    const { question, picked } = this;
    const { phase, legal, most } = question;
    if (question.complete) return [this.command("Confirm", "confirm", "main", "c")];
    if (picked !== null) return [this.pickedButton(picked)];
    const others = legal.filter(({ kind }) => kind !== "done");
    if (most)
      return [
        this.amount(this.done && phase !== "FORTIFY_AMOUNT" ? 0 : 1, most),
        ...this.buttons(others.filter(({ places }) => isNaN(places[0]))),
      ];
    if (this.composes && question.placeable > 1) return [this.perClick(), ...this.buttons(others)];
    if (phase === "TRADE" && this.composes) return [...this.sets(), ...this.buttons(others)];
    const attacks = others.filter(({ kind }) => kind === "attack");
    if (!attacks.length) return this.buttons(others);
    return this.buttons(
      attacks
        .filter(({ places }) => this.source === null || places[0] === this.source)
        .sort((a, b) => (b.chance ?? 0) - (a.chance ?? 0)),
    );
  }

  get done() {
    return this.question.legal.find(({ kind }) => kind === "done");
  }

  buttons(legal) {
    return legal.map(({ action, text, kind, chance }) => {
      const words = this.wordsOf(text, kind) + (chance === undefined ? "" : `, ${percent(chance)}`);
      const key =
        KEYS[words.toLowerCase().split(":")[0]] ?? (kind === "dice" ? text.match(/\d/)?.[0] : undefined);
      const button = element(
        "button",
        {
          type: "button",
          "data-action": action,
          "data-kind": kind,
          "data-key": key,
          title: key && `Key: ${key}`,
        },
        words,
      );
      button.addEventListener("click", () => this.answer(action));
      return button;
    });
  }

  wordsOf(text, kind) {
    const words = text.replace(/^\w+ /, "");
    if (kind === "dice") return words === "1" ? "Roll 1 die" : `Roll ${words} dice`;
    if (text === "blitz") return "Blitz: roll until the battle is decided";
    return words;
  }

  /** Return buttons for the sets in the hand, the most valuable set first. */
  sets() {
    return (this.question.sets ?? []).map(({ cards, words }, i) => {
      const button = element(
        "button",
        { type: "button", "data-kind": "set", class: i ? null : "main" },
        words,
      );
      button.addEventListener("click", () => this.give({ cards }));
      return button;
    });
  }

  /** Return the button that confirms the touched territory. */
  pickedButton({ action, words }) {
    const button = element("button", { type: "button", class: "main", "data-action": action }, words);
    button.addEventListener("click", () => this.answer(action));
    return button;
  }

  /** Return the buttons beside the question, such as the buttons that undo or decline a choice. */
  commands() {
    const { question } = this;
    if (this.isPast) return [this.plain("Back to now", () => this.back(), "main")];
    const found = [];
    if (this.composes && question.steps) found.push(this.command("Undo", "undo", null, "u"));
    if (this.picked !== null) found.push(this.plain("Cancel", () => this.unpick()));
    if (this.composes && question.settles)
      found.push(this.command(SETTLE[question.settles], "settle"));
    if (this.done && this.picked === null) found.push(this.declining());
    return found;
  }

  /** Return the button that declines a choice or ends a part of the turn. */
  declining() {
    const { action } = this.done;
    const { phase, attacks } = this.question;
    const words = attacks ? "Begin the attacks" : (DONE[phase] ?? "Done");
    const button = this.plain(words, () => this.answer(action));
    set(button, "data-kind", "done");
    set(button, "data-key", KEYS.done);
    set(button, "title", `Key: ${KEYS.done}`);
    return button;
  }

  command(words, command, kind = null, key = null) {
    const button = this.plain(words, () => this.give({ command }), kind);
    set(button, "data-command", command);
    if (key) set(button, "data-key", key);
    return button;
  }

  plain(words, act, kind = null) {
    const button = element("button", { type: "button", class: kind }, words);
    button.addEventListener("click", act);
    return button;
  }

  /** Return a slider, a field and two step buttons for a number of troops to place or to move. */
  amount(least, most) {
    const verb = AMOUNTS[this.question.phase];
    const submit = element("button", { type: "submit", class: "main" }, `${verb} ${most}`);
    const form = this.numberForm(verb, least, most, most, (number) => write(submit, `${verb} ${number}`));
    form.append(submit);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.give({ troops: Number(byId("amount").value) });
    });
    return form;
  }

  /** Return a slider, a field and two step buttons for the number of troops that each click places. */
  perClick() {
    const { phase, placeable } = this.question;
    const form = this.numberForm("Troops per click", 1, placeable, this.count, (number) => {
      this.each[phase] = number;
    });
    form.classList.add("each");
    form.prepend(element("span", {}, "Troops per click:"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.focus();
    });
    return form;
  }

  numberForm(words, min, max, value, tell) {
    const slider = element("input", { type: "range", "aria-label": `${words}, slider`, min, max, value });
    const field = element("input", {
      type: "number",
      id: "amount",
      "aria-label": words,
      required: "",
      min,
      max,
      value,
    });
    const change = (number) => {
      const within = Math.min(Math.max(Math.round(number) || min, min), max);
      slider.value = within;
      tell(within);
      return within;
    };
    const step = (words, by) =>
      this.plain(words, () => {
        field.value = change(Number(field.value) + by);
      });
    slider.addEventListener("input", () => {
      field.value = change(Number(slider.value));
    });
    field.addEventListener("input", () => change(Number(field.value)));
    const [less, more] = [step("−", -1), step("+", 1)];
    set(less, "aria-label", "One less");
    set(more, "aria-label", "One more");
    return element("form", { class: "amount" }, slider, less, field, more);
  }

  // --------------------------------------------------------------------------------------------- the board

  /** Mark the territories that may be clicked, the composed choices, and the odds from a chosen territory. */
  light() {
    const legal = this.isOpen ? this.question.legal : [];
    const lit = new Set(
      legal.flatMap(({ kind, places }) => {
        if (kind === "territory") return [places[0]];
        if (kind !== "attack") return [];
        return [this.source === places[0] ? places[1] : places[0]];
      }),
    );
    this.board?.light(lit, this.picked?.t ?? this.source);
    this.board?.compose(this.isOpen ? (this.question.added ?? {}) : {});
    this.drawOdds(legal.filter(({ kind, places }) => kind === "attack" && places[0] === this.source));
  }

  /** Draw the attacks from the chosen territory with their odds. */
  drawOdds(attacks) {
    if (!attacks.length && !this.hasOdds) return; // other arrows stay
    this.hasOdds = attacks.length > 0;
    this.board.drawPlans(
      attacks.map(({ places: [source, target], chance }) => ({
        source,
        target,
        words: chance === undefined ? "" : percent(chance).replace("over ", ">").replace("under ", "<"),
      })),
    );
  }

  /** Show the chance of an attack on the territory under the mouse. */
  point(place) {
    if (!this.isOpen || this.source === null || place === undefined) return;
    const attack = this.attackOn(Number(place));
    if (attack) write(byId("asked"), attack.text + oddsOf(attack));
  }

  attackOn(t) {
    return this.question.legal.find(
      ({ kind, places }) => kind === "attack" && places[0] === this.source && places[1] === t,
    );
  }

  /**
   * A click answers at once. The first touch shows the name of a territory, and the second touch answers. A
   * choice that waits for confirmation needs no second touch.
   */
  click(event) {
    const place = event.target.dataset.territory;
    if (!this.isOpen || place === undefined) return;
    const t = Number(place);
    const there = this.question.legal.find(({ kind, places }) => kind === "territory" && places[0] === t);
    const found = there ?? this.attackOn(t);
    const waits = this.composes && this.question.composes;
    if (found && event.pointerType === "touch" && !waits && this.picked?.t !== t) return this.pick(t, found);
    if (found) return this.answer(found.action);
    const begins = this.question.legal.some(({ kind, places }) => kind === "attack" && places[0] === t);
    Object.assign(this, { source: begins && t !== this.source ? t : null, picked: null });
    this.draw();
  }

  pick(t, { action, kind, chance }) {
    const verb = kind === "attack" ? "Attack" : (VERBS[this.question.phase] ?? "Choose");
    const count = kind === "territory" ? this.countAt(action) : 1;
    const troops = count > 1 ? ` ${count} on` : "";
    this.picked = { t, action, words: `${verb}${troops} ${this.place(t)}${oddsOf({ chance })}` };
    this.draw();
  }

  unpick() {
    this.picked = null;
    this.draw();
  }

  /** Handle a key: a key of a button presses the button, a digit begins a number, `q` focuses an answer. */
  key(event) {
    if (!this.question || event.target.matches("select, textarea, input:not([type=range])")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = byId("amount");
    const [button] = [...byId("question").querySelectorAll("button[data-key]")].filter(
      (other) => other.dataset.key === event.key,
    );
    if (button) button.click();
    else if (/^[0-9]$/.test(event.key) && field) {
      event.preventDefault();
      field.focus();
      field.value = event.key;
      field.dispatchEvent(new Event("input"));
    } else if (event.key === "q") this.focus();
  }
}

/** Words of the button that leaves a group of decisions to the server, by group. */
const SETTLE = { "set-up": "Choose the rest for me", defence: "Always roll the most" };

/** Verbs for the answer with a touched territory, by phase. */
const VERBS = {
  CLAIM: "Claim",
  DEPLOY: "Place",
  DEPLOY_NEUTRAL: "Place",
  DRAFT: "Place",
  FORTIFY_FROM: "Move troops from",
  FORTIFY_TO: "Move troops to",
};

/** Words of the button that declines a choice or ends a part of the turn, by phase. */
const DONE = {
  TRADE: "Keep the cards",
  ATTACK: "End the attacks",
  REROLL: "Keep the dice",
  COMMANDER: "Keep the dice",
  OCCUPY: "No more troops",
  OBJECTIVE: "Take none",
  FORTIFY_FROM: "End the turn",
  FORTIFY_AMOUNT: "No more troops",
};

/** The question of each phase, as a function of the decision's facts. */
const TITLES = {
  CAPITAL: () => "Choose the territory of your capital.",
  CLAIM: () => "Claim a free territory.",
  DEPLOY: ({ left }) => `Reinforce your territories: ${plural(left, "troop")} left.`,
  DEPLOY_NEUTRAL: ({ left }) => `Reinforce the neutral army: ${plural(left, "troop")} left.`,
  HEADQUARTERS: () => "Choose the territory of your headquarters.",
  TRADE: ({ composed }) =>
    composed.length ? "Trade another set, or continue and place troops." : "Trade a set of cards for troops.",
  BONUS: () => "Choose the territory that gets the bonus troops of the set.",
  DRAFT: ({ placeable }) => `Place ${plural(placeable, "troop")} on your territories.`,
  DRAFT_AMOUNT: ({ target, name }) => `How many troops go to ${name(target)}?`,
  ATTACK: () => "Attack a neighbour, or end the attacks.",
  ATTACK_DICE: ({ source, target, name, troops }) =>
    `${name(source)} (${troops(source)}) attacks ${name(target)} (${troops(target)}).`,
  DEFEND: ({ source, target, whose, name, troops }) =>
    `${name(source)} (${troops(source)}) attacks ${whose} ${name(target)} (${troops(target)}).`,
  REROLL: () => "Roll one die again?",
  COMMANDER: () => "Turn one die to 6?",
  OCCUPY: ({ source, target, name }) =>
    `${name(target)} is yours. How many more troops follow from ${name(source)}?`,
  OBJECTIVE: () => "You have met an Objective. Choose the Objective to take.",
  AIRFIELD: () => "Choose the territory of the airfield.",
  FORTIFY_FROM: ({ attacks }) =>
    `Move troops between your territories, or ${attacks ? "begin the attacks" : "end the turn"}.`,
  FORTIFY_TO: ({ source, name }) => `Where do the troops of ${name(source)} go?`,
  FORTIFY_AMOUNT: ({ source, target, name }) =>
    `How many troops move from ${name(source)} to ${name(target)}?`,
};

/** One sentence about each phase; sentences that depend on the rules come from the server. */
const HINTS = {
  CLAIM: "Continents that you hold entirely give bonus troops every turn.",
  DEPLOY: "The players take turns until all troops are placed.",
  DEPLOY_NEUTRAL: "The neutral army defends itself and never attacks.",
  HEADQUARTERS: "Your choice stays secret until all players have chosen.",
  BONUS: "The two bonus troops go to a territory that a traded card shows.",
  DRAFT: "Every turn begins with new troops. Click the territories that get them.",
  DRAFT_AMOUNT: "The rest can go to other territories.",
  ATTACK: "Choose your territory, then a neighbour. In games with cards, a turn with a capture earns a card.",
  ATTACK_DICE: "The highest dice are compared. The defender wins ties.",
  DEFEND: "The highest dice are compared. The defender wins ties.",
  REROLL: "A new roll shows one of your cards to everybody.",
  COMMANDER: "You can do this once a turn.",
  OCCUPY: "Troops that stay behind defend the territory that you attacked from.",
  AIRFIELD: "An airfield adds 1 to your highest die in battles near it.",
  FORTIFY_FROM: "Choose the territory that gives troops. At least one troop stays behind.",
  FORTIFY_TO: "The troops can reach the outlined territories.",
  FORTIFY_AMOUNT: "At least one troop stays behind.",
};
