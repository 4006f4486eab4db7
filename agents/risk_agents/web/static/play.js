// A live game: the replay of the game so far, and the questions that this seat is asked.

import { write } from "risk/dom";
import { Guide, isGuided } from "risk/guide";
import { News } from "risk/news";
import { badge } from "risk/panels";
import { listenToLooks, Replay } from "risk/replay";
import { Asker } from "risk/question";
import { invitation, keepToken, post, takeToken } from "risk/server";
import { Sound } from "risk/sound";

const byId = (id) => document.getElementById(id);
const AGAIN = 1000; // milliseconds until the page connects again after a lost connection
const POLL = 2000; // milliseconds between two requests for a review
const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const GAME = location.pathname.split("/").at(-1);

class Live {
  constructor() {
    this.token = takeToken(GAME);
    this.facts = null;
    this.pieces = []; // frames received so far of an incomplete series
    this.view = null; // the Replay, once there is a frame
    this.latest = null; // the last decision from the server, which is shown again after a refusal
    this.isWaiting = false; // true if another seat decides
    this.sound = new Sound(byId("sound"));
    this.ended = false; // true if the server has closed the connection for good
    this.asker = new Asker((answer, { decision }) => this.send({ ...answer, decision }), {
      asksBack: () => confirm("End your attacks for this turn?"),
      composes: true,
      back: () => this.view.show(this.view.history.length - 1),
    });
    this.connect();
    listenToLooks();
    for (const id of ["pace-of-agents", "sound", "say"]) byId(id).hidden = !this.token;
    byId("say").addEventListener("submit", (event) => this.type(event));
    byId("pace").addEventListener("change", () => this.send({ pace: Number(byId("pace").value) }));
    byId("review-game").addEventListener("click", () => this.review());
    byId("play-on").addEventListener("click", () => this.leave("/"));
    byId("analyse").addEventListener("click", () => this.leave("/analysis"));
  }

  get question() {
    return this.asker.question;
  }

  /** Answer with the words in the field. */
  type(event) {
    event.preventDefault();
    this.asker.say(byId("said").value);
    byId("said").value = "";
  }

  /** Open another page at the moment that is shown. */
  leave(address) {
    if (this.view)
      location.href = `${address}#${new URLSearchParams({ from: GAME, frame: this.view.frame })}`;
  }

  connect() {
    this.socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}/live`,
    );
    this.pieces = [];
    this.socket.addEventListener("open", () =>
      this.send({ token: this.token, have: this.view?.history.length ?? 0 }),
    );
    this.socket.addEventListener("message", ({ data }) => this.take(JSON.parse(data)));
    this.socket.addEventListener("close", () => {
      if (this.ended) return;
      this.asker.ask(null, "The connection is lost. Trying again …");
      setTimeout(() => this.connect(), AGAIN);
    });
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  take(message) {
    if (message.facts) {
      this.facts = message.facts;
      keepToken(GAME, this.token); // the server has accepted the token
    }
    if (message.frames) this.takeFrames(message);
    if (message.refused) {
      this.ended = message.final;
      this.asker.ask(message.final ? null : this.latest, message.refused);
    }
  }

  /** Frames arrive in pieces and are shown after the last piece. */
  takeFrames({ frames: piece, more, question, problem, outlook }) {
    this.pieces.push(...piece);
    if (more) return;
    const frames = this.pieces;
    this.pieces = [];
    if (this.view) this.append(frames);
    else this.begin(frames);
    this.latest = question;
    this.view.tell(outlook);
    if (question || outlook.ending) this.news.tell();
    if (question && this.isWaiting) this.sound.play();
    this.isWaiting = this.view.history.last.seat !== this.facts.seat;
    this.say(question, problem, outlook.ending);
    document.body.dataset.ready = "true";
  }

  append(frames) {
    this.view.append(frames);
    this.news.add(frames);
    this.guide?.add(frames);
  }

  /** Ask the question. Without a question, show who decides, or the ending and the next steps. */
  say(question, problem, ending) {
    const state = this.view.history.last;
    const name = this.facts.names[state.seat] ?? "Chance";
    const news = ending ? "The game is over" : `${name} decides`;
    document.title = `${question ? "\u25cf Your turn" : news} \u2013 Risk`;
    if (state.phase === "OVER")
      this.tellEnding(ending);
    else this.asker.ask(question, problem || (question ? "" : `${name} decides.`));
  }

  /** Show the ending. A player gets buttons below the ending; a person who only watches gets `Review`. */
  tellEnding(ending) {
    const watches = this.facts.seat < 0;
    byId("review-game").hidden = !watches;
    const mine = `${this.facts.names[this.facts.seat]} has won`;
    const told = ending.startsWith(mine) ? `You have won${ending.slice(mine.length)}` : ending;
    this.asker.tell(`The game is over. ${told}`, watches ? [] : this.next());
  }

  /** Return the buttons after the end of a game: words and functions. */
  next() {
    return [
      ["Play again", () => this.again()],
      ["Review", () => this.review()],
      ["Watch it from the start", () => this.view.show(0)],
      ["Analyse the end", () => this.leave("/analysis")],
      ["Lobby", () => location.assign("/")],
    ];
  }

  /** Ask the server for the review until the review is ready, and show the review. */
  async review() {
    this.asker.tell("Reviewing the game takes up to a minute, and a few minutes the first time.", []);
    try {
      const wish = { game: GAME, token: this.token };
      let answer = {};
      while (!(answer = await post("/api/review", wish)).review) await later(POLL);
      this.view.tellReview(answer.review);
      byId("tab-review").click();
      byId("tab-review").scrollIntoView();
      this.tellEnding(this.view.outlook.ending);
    } catch ({ message }) {
      this.tellEnding(message);
    }
  }

  /** Begin a new game with the same settings and players, but other dice. */
  async again() {
    try {
      const { game, tokens, owner } = await post("/api/again", { game: GAME, token: this.token });
      location.href = invitation(game, tokens, owner);
    } catch ({ message }) {
      this.asker.tell(message, this.next());
    }
  }

  /** Show the game at the last moment, or at the moment in the address. */
  begin(frames) {
    this.view = new Replay({ ...this.facts, frames }, () => !this.question);
    if (!/^#\d+$/.test(location.hash)) this.view.show(this.view.history.length - 1);
    this.asker.use(this.view.board);
    this.news = new News(byId("question"), this.view.words);
    if (isGuided(GAME)) this.guide = new Guide(this.asker, this.facts);
    this.view.shown = (frame, last) => this.asker.look(frame < last);
    document.body.toggleAttribute("data-seated", this.facts.seat >= 0);
    this.greet();
    window.live = this;
  }

  /** Show the player of this page. */
  greet() {
    const { map, names, seat } = this.facts;
    const title = document.querySelector(".bar h1");
    if (seat < 0) write(title, "You are watching");
    else title.replaceChildren(badge(map, seat, names.length), `You are ${names[seat]}`);
  }
}

new Live();
