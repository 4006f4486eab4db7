// Moves in words for screen readers: one announcement for each turn of another player, and one before each
// decision of this seat.

import { element, write } from "risk/dom";

const MOST = 12; // maximum number of sentences in an announcement
const PLACED = ["claim", "deploy", "deploy_neutral", "draft"];
// An announcement sums up the kinds of events in SUMMED, and leaves out the kinds in SILENT. Each event of
// another kind has its own sentence.
const SUMMED = [...PLACED, "battle", "capture", "occupy"];
const SILENT = ["round", "dealt", "draw", "deal", "skipped", "starter", "shuffle"];

export class News {
  /** Add a live region after the element `before`. `words` are the words of the game (words.js). */
  constructor(before, words) {
    this.words = words;
    this.events = []; // events that are not announced yet
    this.node = element("p", { class: "unseen", role: "status" });
    before.after(this.node);
  }

  /** Take the events of new frames. When a turn of another player ends, announce the turn. */
  add(frames) {
    for (const event of frames.flatMap(([, events]) => events)) {
      this.events.push(event);
      if (event.kind === "turn_end" && event.seat !== this.words.seat) this.tell();
    }
  }

  /** Announce all events since the last announcement. */
  tell() {
    const sentences = this.sentences();
    this.events = [];
    const more = sentences.length > MOST ? [`and ${sentences.length - MOST} more`] : [];
    if (sentences.length) write(this.node, `${[...sentences.slice(0, MOST), ...more].join(". ")}.`);
  }

  sentences() {
    const seats = [...new Set(this.events.map(({ seat }) => seat ?? -1))];
    return seats.flatMap((seat) => this.of(seat));
  }

  /** Return the events of a seat in sentences: placed troops, battles by territory, then all other events. */
  of(seat) {
    const events = this.events.filter((event) => (event.seat ?? -1) === seat);
    const others = events
      .filter(({ kind }) => !SUMMED.includes(kind) && !SILENT.includes(kind))
      .map((event) => this.words.sentence(event))
      .filter(Boolean);
    const told = [...this.placed(events), ...this.battles(events), ...others];
    return seat < 0 ? told : told.map((text) => `${this.words.name(seat)} ${text}`);
  }

  placed(events) {
    const troops = new Map();
    for (const { kind, territory = 0, number = 0 } of events)
      if (PLACED.includes(kind)) troops.set(territory, (troops.get(territory) ?? 0) + number);
    const parts = [...troops].map(([t, number]) => `${number} on ${this.words.place(t)}`);
    return parts.length ? [`places ${parts.join(", ")}`] : [];
  }

  /** Return one sentence for each attacked territory, which sums up all rolls. */
  battles(events) {
    const found = new Map();
    for (const { kind, target = 0, losses = [0, 0] } of events) {
      if (kind !== "battle" && kind !== "capture") continue;
      const sum = found.get(target) ?? { lost: 0, killed: 0, taken: false };
      if (kind === "capture") sum.taken = true;
      else Object.assign(sum, { lost: sum.lost + losses[0], killed: sum.killed + losses[1] });
      found.set(target, sum);
    }
    return [...found].map(([t, { lost, killed, taken }]) => {
      const end = taken ? " and takes it" : "";
      return `attacks ${this.words.place(t)}, loses ${lost}, kills ${killed}${end}`;
    });
  }
}
