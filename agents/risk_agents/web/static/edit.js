// The editor of the analysis board: owner and troops of territories, cards, and the player whose turn it is.

import { element, write } from "risk/dom";
import { plural } from "risk/words";

const byId = (id) => document.getElementById(id);
const numberOf = (id) => Number(byId(id).value);

export class Editor {
  /**
   * The forms of the editor. `change(edit, words)` changes the position. While the editor is open, a click
   * on the board chooses a territory, and the board takes no answers.
   */
  constructor(change) {
    this.change = change;
    this.state = null;
    this.box = byId("edit");
    byId("stage").addEventListener("click", (event) => this.point(event), true);
    this.box.addEventListener("toggle", () => document.body.toggleAttribute("data-edits", this.box.open));
    byId("edit-place").addEventListener("change", () => this.choose(numberOf("edit-place")));
    byId("edit-player").addEventListener("change", () => this.drawCards());
    this.on("edit-territory", () => this.territory());
    this.on("edit-cards", () => this.cards());
    this.on("edit-turn", () => this.turn());
  }

  on(id, act) {
    byId(id).addEventListener("submit", (event) => {
      event.preventDefault();
      act();
    });
  }

  /** Offer the territories and players of a map, and the parts of a turn (`parts`: words by name). */
  use(map, words, parts) {
    Object.assign(this, { map, words, parts });
    const option = (text, value) => element("option", { value }, text);
    const seats = () => words.names.map(option);
    byId("edit-place").replaceChildren(...map.territories.map(option));
    byId("edit-owner").replaceChildren(...seats(), option("neutral", words.names.length));
    byId("edit-player").replaceChildren(...seats());
    byId("edit-seat").replaceChildren(...seats());
    byId("edit-part").replaceChildren(...Object.entries(parts).map(([part, text]) => option(text, part)));
  }

  /** Show the facts of a position. `part` is the current part of the turn. */
  show({ state, part }) {
    this.state = state;
    this.choose(numberOf("edit-place"));
    this.drawCards();
    byId("edit-seat").value = state.turn;
    byId("edit-part").value = part;
    write(byId("edit-error"), "");
  }

  choose(place) {
    byId("edit-place").value = place;
    byId("edit-owner").value = this.state.owner[place];
    byId("edit-troops").value = this.state.troops[place];
  }

  drawCards() {
    const hand = this.state.hands?.[numberOf("edit-player")] ?? [];
    byId("edit-hand").value = hand.map((card) => this.map.territories[card] ?? "wild").join(", ");
  }

  /** A click on the board chooses a territory. */
  point(event) {
    const place = event.target.dataset.territory;
    if (!this.box.open || place === undefined || !this.state) return;
    event.stopPropagation();
    this.choose(Number(place));
    byId("edit-troops").focus();
    byId("edit-troops").select();
  }

  territory() {
    const edit = { territory: numberOf("edit-place"), owner: numberOf("edit-owner") };
    edit.troops = numberOf("edit-troops");
    const owner = this.words.names[edit.owner] ?? "neutral";
    this.change(edit, `${this.map.territories[edit.territory]}: ${owner}, ${plural(edit.troops, "troop")}`);
  }

  cards() {
    const edit = { seat: numberOf("edit-player"), cards: byId("edit-hand").value };
    this.change(edit, `cards of ${this.words.name(edit.seat)}: ${edit.cards || "none"}`);
  }

  turn() {
    const edit = { seat: numberOf("edit-seat"), part: byId("edit-part").value };
    this.change(edit, `turn of ${this.words.name(edit.seat)}, ${this.parts[edit.part]}`);
  }

  refuse(message) {
    write(byId("edit-error"), message);
  }
}
