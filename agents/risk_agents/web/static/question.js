// A question that a seat is asked, and the ways to answer it: clicks on the board, buttons, a slider, keys.

import { element, set, write } from "risk/dom";

const byId = (id) => document.getElementById(id);
export const percent = (share) => (share > 0.995 ? "over 99 %" : share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);

const NUMBERED = { DRAFT_AMOUNT: "Place", OCCUPY: "Move", FORTIFY_AMOUNT: "Move", ATTACK_DICE: "Roll", DEFEND: "Roll" };
const KEYS = { done: "d", blitz: "b", all: "a", half: "h" };

export class Asker {
  /**
   * `send(answer, question)` plays `{action}` or `{troops}`. `asksBack()` is called before the player gives up
   * likely attacks; the action is played only if it returns true.
   */
  constructor(send, asksBack = () => true) {
    Object.assign(this, { send, asksBack });
    this.board = null; // board.js, once there is one
    this.question = null;
    this.source = null; // the territory from which an attack was begun by a click
    document.addEventListener("keydown", (event) => this.key(event));
    byId("answers").addEventListener("keydown", (event) => event.target.matches("input") && event.stopPropagation());
  }

  /** Let the clicks on a board answer questions, and its territories be lit. */
  use(board) {
    this.board = board;
    board.root.addEventListener("click", (event) => this.click(event.target.dataset.territory));
    board.root.addEventListener("mouseover", (event) => this.point(event.target.dataset.territory));
  }

  /** Show a question and its answers, or say what is going on. */
  ask(question, words = "") {
    this.question = question;
    this.source = null;
    set(byId("question"), "data-asked", Boolean(question));
    write(byId("asked"), question ? QUESTIONS[question.phase] : words);
    byId("answers").replaceChildren(...(question ? this.answers() : []));
    this.light();
  }

  answer(action) {
    const { question } = this;
    const { kind } = question.legal.find((choice) => choice.action === action);
    const leavesMuch = question.legal.some((choice) => choice.kind === "attack" && choice.chance > 0.5);
    if (kind === "done" && leavesMuch && !this.asksBack()) return;
    this.give({ action });
  }

  give(answer) {
    const { question } = this;
    this.ask(null, "…");
    this.send(answer, question);
  }

  // --------------------------------------------------------------------------------------------- answers

  answers() {
    const { phase, legal, most } = this.question;
    const dice = legal.filter(({ kind }) => kind === "dice").map(({ places }) => places[0]);
    if (most) return [this.amount(this.done ? 0 : 1, most), ...this.buttons(legal.filter(({ kind, places }) => kind === "done" || isNaN(places[0])))];
    if (phase in NUMBERED && dice.length > 1) return [this.amount(Math.min(...dice), Math.max(...dice)), ...this.buttons(legal.filter(({ kind }) => kind !== "dice"))];
    return this.buttons(this.source === null ? legal : legal.filter(({ kind, places }) => kind !== "attack" || places[0] === this.source));
  }

  get done() {
    return this.question.legal.find(({ kind }) => kind === "done");
  }

  buttons(legal) {
    return legal.map(({ action, text, kind, chance }) => {
      const words = kind === "done" ? "Done" : text.replace(/^(troops|occupy|move|dice|defend|card|attack) /, "") + (chance === undefined ? "" : `, ${percent(chance)}`);
      const key = KEYS[words.toLowerCase()];
      const button = element("button", { type: "button", "data-action": action, "data-kind": kind, "data-key": key, title: key && `Key: ${key}` }, words);
      button.addEventListener("click", () => this.answer(action));
      return button;
    });
  }

  /** A slider and a field for a number. */
  amount(least, most) {
    const verb = NUMBERED[this.question.phase];
    const range = { min: least, max: most, value: most };
    const slider = element("input", { type: "range", "aria-label": `${verb} how many`, ...range });
    const field = element("input", { type: "number", id: "amount", "aria-label": `${verb} this many`, required: "", ...range });
    const form = element("form", { class: "amount" }, slider, field, element("button", { type: "submit" }, verb));
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", () => { slider.value = field.value; });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.number(Number(field.value));
    });
    return form;
  }

  /** Answer by a number of troops or of dice. */
  number(number) {
    const { legal, most } = this.question;
    if (most) this.give({ troops: number });
    else this.answer(legal.find(({ kind, places }) => kind === "dice" && places[0] === number).action);
  }

  // --------------------------------------------------------------------------------------------- the board

  /** Mark the territories that may be clicked. */
  light() {
    const legal = this.question?.legal ?? [];
    const lit = new Set(legal.flatMap(({ kind, places }) => {
      if (kind === "territory") return [places[0]];
      if (kind !== "attack") return [];
      return [this.source === places[0] ? places[1] : places[0]];
    }));
    this.board?.light(lit, this.source);
  }

  /** Say how likely an attack on the territory under the mouse is to take it. */
  point(place) {
    if (!this.question || this.source === null || place === undefined) return;
    const attack = this.question.legal.find(({ kind, places }) => kind === "attack" && places[0] === this.source && places[1] === Number(place));
    if (attack) write(byId("asked"), `${attack.text}: ${percent(attack.chance)} to take it in a blitz`);
  }

  click(place) {
    if (!this.question || place === undefined) return;
    const t = Number(place);
    const { legal } = this.question;
    const there = legal.find(({ kind, places }) => kind === "territory" && places[0] === t);
    const attack = legal.find(({ kind, places }) => kind === "attack" && places[0] === this.source && places[1] === t);
    if (there || attack) return this.answer((there ?? attack).action);
    const begins = legal.some(({ kind, places }) => kind === "attack" && places[0] === t);
    this.source = begins && t !== this.source ? t : null;
    byId("answers").replaceChildren(...this.answers());
    this.light();
  }

  /** A digit begins a number, letters press the buttons of `KEYS`, `q` goes to the answers; Tab and Enter choose one. */
  key(event) {
    if (!this.question || event.target.matches("select, textarea, input:not([type=range])")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = byId("amount");
    const [button] = [...byId("answers").querySelectorAll("button[data-key]")].filter((other) => other.dataset.key === event.key);
    if (/^[0-9]$/.test(event.key) && field) {
      event.preventDefault();
      field.focus();
      field.value = event.key;
      field.dispatchEvent(new Event("input"));
    } else if (button) button.click();
    else if (event.key === "q") byId("answers").querySelector("input[type=number], button")?.focus();
  }
}

const QUESTIONS = {
  CAPITAL: "Where do you put your capital?",
  CLAIM: "Which territory do you claim?",
  DEPLOY: "Where do you put a troop?",
  DEPLOY_NEUTRAL: "Where do you put a troop of the neutral army?",
  HEADQUARTERS: "Which of your territories is your headquarters? It stays secret until all have picked.",
  TRADE: "Which card do you trade? Done keeps or trades what is laid out.",
  BONUS: "Which territory of the set gets the bonus troops?",
  DRAFT: "Where do you place troops?",
  DRAFT_AMOUNT: "How many troops?",
  ATTACK: "What do you attack? Click your territory, then its neighbour.",
  ATTACK_DICE: "How many dice do you roll?",
  DEFEND: "How many dice do you defend with?",
  REROLL: "Which die do you roll again? It shows your card.",
  COMMANDER: "Which die do you turn to 6?",
  OCCUPY: "How many more troops follow?",
  OBJECTIVE: "Which Objective do you take?",
  AIRFIELD: "Where do you build the airfield?",
  FORTIFY_FROM: "From where do you move troops?",
  FORTIFY_TO: "Where do they go?",
  FORTIFY_AMOUNT: "How many troops move?",
};
