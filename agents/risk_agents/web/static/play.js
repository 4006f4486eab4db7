// A live game: the replay of what has happened so far, and the questions that this seat is asked.

import { element, set, write } from "risk/dom";
import { listenToLooks, Replay } from "risk/replay";

const byId = (id) => document.getElementById(id);
const AGAIN = 1000; // milliseconds until a lost connection is tried again
const GAME = location.pathname.split("/").at(-1);

/** The secret of this browser's seat: it comes in the link once, and is kept. */
function token() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found) {
    sessionStorage.setItem(GAME, found);
    localStorage.setItem(GAME, found);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(GAME) ?? localStorage.getItem(GAME) ?? "";
}

const percent = (share) => (share > 0.995 ? "over 99 %" : share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);

class Live {
  constructor() {
    this.token = token();
    this.facts = null;
    this.view = null; // the Replay, once there is a frame
    this.question = null;
    this.source = null; // the territory from which an attack was begun by a click
    this.connect();
    listenToLooks();
    byId("pace-of-agents").hidden = !this.token;
    byId("pace").addEventListener("change", () => this.send({ pace: Number(byId("pace").value) }));
    byId("board").addEventListener("click", (event) => this.click(event.target.dataset.territory));
    byId("board").addEventListener("mouseover", (event) => this.point(event.target.dataset.territory));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // --------------------------------------------------------------------------------------------- the socket

  connect() {
    this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}/live`);
    this.socket.addEventListener("open", () => this.send({ token: this.token, have: this.view?.history.length ?? 0 }));
    this.socket.addEventListener("message", ({ data }) => this.take(JSON.parse(data)));
    this.socket.addEventListener("close", () => {
      if (this.ended) return;
      this.ask(null, "The connection is lost. Trying again …");
      setTimeout(() => this.connect(), AGAIN);
    });
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  take(message) {
    if (message.facts) this.facts = message.facts;
    if (message.frames) this.takeFrames(message);
    if (message.refused) {
      this.ended = message.final;
      this.ask(message.final ? null : this.question, message.refused);
    }
  }

  takeFrames({ frames, question, problem }) {
    if (!this.view) {
      this.view = new Replay({ ...this.facts, frames });
      this.view.show(this.view.history.length - 1);
      window.live = this;
    } else this.view.append(frames);
    this.source = null;
    const state = this.view.history.last;
    const waiting = state.phase === "OVER" ? "The game is over." : `${this.facts.names[state.seat] ?? "Chance"} decides.`;
    this.ask(question, problem || waiting);
    document.body.dataset.ready = "true";
  }

  // --------------------------------------------------------------------------------------------- questions

  /** Show a question and its answers, or say what is going on. */
  ask(question, words) {
    this.question = question;
    set(byId("question"), "data-asked", Boolean(question));
    write(byId("asked"), question ? QUESTIONS[question.phase] : words);
    byId("answers").replaceChildren(...(question ? this.buttons(question.legal) : []));
    this.light();
  }

  buttons(legal) {
    const shown = this.source === null ? legal : legal.filter(({ kind, places }) => kind !== "attack" || places[0] === this.source);
    return shown.map(({ action, text, kind, chance }) => {
      const words = kind === "done" ? "Done" : text.replace(/^(troops|occupy|move|dice|defend|card|attack) /, "") + (chance === undefined ? "" : `, ${percent(chance)}`);
      const button = element("button", { type: "button", "data-action": action, "data-kind": kind }, words);
      button.addEventListener("click", () => this.answer(action));
      return button;
    });
  }

  answer(action) {
    const { decision, legal } = this.question;
    const ends = legal.some(({ kind, chance }) => kind === "attack" && chance > 0.5) && legal.find((choice) => choice.action === action).kind === "done";
    if (ends && !confirm("End your attacks for this turn?")) return;
    this.ask(null, "…");
    this.send({ action, decision });
  }

  /** Mark the territories that may be clicked. */
  light() {
    const legal = this.question?.legal ?? [];
    const lit = new Set(legal.flatMap(({ kind, places }) => {
      if (kind === "territory") return [places[0]];
      if (kind !== "attack") return [];
      return [this.source === places[0] ? places[1] : places[0]];
    }));
    this.view?.board.light(lit, this.source);
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
    byId("answers").replaceChildren(...this.buttons(legal));
    this.light();
  }

  /** `d` is done, `q` goes to the answers; Tab and Enter choose one. */
  key(event) {
    if (!this.question || event.target.matches("select, input:not([type=range])")) return;
    const done = this.question.legal.find(({ kind }) => kind === "done");
    if (event.key === "d" && done) this.answer(done.action);
    if (event.key === "q") byId("answers").querySelector("button")?.focus();
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

new Live();
