// The review of a game: chances, luck and choices over the game, and the turns that cost most.

import { Chart } from "risk/charts";
import { element, set } from "risk/dom";
import { badge } from "risk/panels";
import { plural, share } from "risk/words";

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.round(Math.abs(100 * value))} %`;

export class Review {
  /** Show the review `facts` (`Review.to_dict`) in `root`. `page` is the Replay that shows the game. */
  constructor(root, facts, page) {
    Object.assign(this, { facts, page });
    this.shown = null; // frame and button of the drawn route
    const frames = turnFrames(page.history);
    const frameOf = (turn) => frames.get(`${turn.round} ${turn.seat}`) ?? 0;
    this.turns = facts.turns.map((turn) => ({ ...turn, frame: frameOf(turn) }));
    this.charts = this.makeCharts();
    root.replaceChildren(
      this.table(),
      ...(facts.note ? [element("p", { class: "about" }, facts.note)] : []),
      ...this.charts.map(({ node }) => node),
      ...facts.names.map((name, seat) => this.player(name, seat)),
    );
  }

  makeCharts() {
    const chances = this.turns.map(({ frame, chances }) => ({ frame, values: chances }));
    const last = this.page.history.length - 1;
    const marks = this.facts.mistakes.map(({ round, seat }) => {
      const turn = this.turns.find((other) => other.round === round && other.seat === seat);
      return { frame: turn.frame, seat, value: turn.chances[seat] };
    });
    return [
      this.chart("Chance to win", [...chances, { frame: last, values: this.facts.end }], share, marks),
      this.chart("Luck so far", this.sums(({ luck }, seat) => luck[seat]), signed),
      this.chart(
        "Choices so far, against the best plan",
        this.sums((turn, seat) => (turn.seat === seat ? -turn.loss : 0)),
        signed,
      ),
    ];
  }

  chart(title, points, format, marks = []) {
    const { map, names } = this.page.facts;
    const chart = new Chart(title, map, names, (frame) => this.page.show(frame));
    chart.draw(points, this.page.history.length, format, marks);
    return chart;
  }

  /** Return the running sums of `number(turn, seat)` at the beginning of every turn and at the end. */
  sums(number) {
    let values = this.facts.names.map(() => 0);
    const points = this.turns.map((turn) => {
      const point = { frame: turn.frame, values };
      values = values.map((value, seat) => value + number(turn, seat));
      return point;
    });
    return [...points, { frame: this.page.history.length - 1, values }];
  }

  /** Return the table of all seats: chance at the beginning, luck, choices, chance at the end. */
  table() {
    const [, luck, choices] = this.charts.map((chart) => chart.points.at(-1).values);
    const rows = this.facts.names.map((name, seat) => {
      const cells = [
        share(this.facts.turns[0].chances[seat]),
        signed(luck[seat]),
        signed(choices[seat]),
        share(this.facts.end[seat]),
      ];
      const head = element("th", { scope: "row" }, this.badge(seat), name);
      return element("tr", {}, head, ...cells.map((cell) => element("td", {}, cell)));
    });
    const heads = ["Player", "Start", "Luck", "Choices", "End"];
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    return element("table", { class: "sums" }, element("thead", {}, head), element("tbody", {}, ...rows));
  }

  badge(seat) {
    return badge(this.page.facts.map, seat, this.facts.names.length);
  }

  /** Return the section with the turns that cost a seat most. */
  player(name, seat) {
    const turns = this.facts.mistakes.filter((mistake) => mistake.seat === seat);
    const none = element("p", { class: "about" }, "No turn cost this player much.");
    const heading = element("h2", {}, this.badge(seat), name);
    return element(
      "section",
      { class: "mistakes", "aria-label": `Turns of ${name}` },
      heading,
      ...(turns.length ? turns.map((mistake) => this.mistake(mistake)) : [none]),
    );
  }

  mistake(mistake) {
    const { round, loss, error, games, played, better } = mistake;
    const cost = `Round ${round}: cost ${share(loss)}`;
    const title = `± ${share(error)}, from ${plural(games, "game")} of each turn`;
    return element(
      "div",
      { class: "mistake" },
      element("p", { class: "cost", title }, cost),
      this.route(mistake, "Played", played),
      this.route(mistake, "Better", better),
    );
  }

  /** Return a button with a route in words. A click draws the route on the board before the turn. */
  route({ round, seat }, label, route) {
    const button = element(
      "button",
      { type: "button", class: "route", "aria-pressed": false, "data-route": label },
      element("strong", {}, `${label}: `),
      route.words,
    );
    button.addEventListener("click", () => {
      const { frame } = this.turns.find((turn) => turn.round === round && turn.seat === seat);
      const draws = button.getAttribute("aria-pressed") === "false";
      this.clear();
      this.page.pause();
      this.page.show(frame);
      if (!draws) return;
      set(button, "aria-pressed", true);
      this.shown = { frame, button };
      this.draw(route);
      this.page.board.root.scrollIntoView({ block: "nearest" });
    });
    return button;
  }

  /** Draw a route on the board before the turn: troops that are placed, attacks in order, and moves. */
  draw({ drafts, attacks, moves }) {
    this.page.board.draw(this.page.history.state(this.shown.frame));
    this.page.board.compose(Object.fromEntries(drafts));
    this.page.board.drawPlans([
      ...attacks.map(([source, target], i) => ({ source, target, words: String(i + 1) })),
      ...moves.map(([source, target, troops]) => ({ source, target, words: `move ${troops}` })),
    ]);
  }

  clear() {
    if (!this.shown) return;
    set(this.shown.button, "aria-pressed", false);
    this.shown = null;
    this.page.board.compose({});
    this.page.board.drawPlans([]);
  }

  /** Move the charts to a frame, and remove a route that is drawn in another frame. */
  point(frame) {
    this.charts.forEach((chart) => chart.point(frame));
    if (this.shown && this.shown.frame !== frame) this.clear();
  }
}

/** Return the frames in which turns begin, by round and seat. */
function turnFrames(history) {
  return new Map(
    history.turns.map((frame) => {
      const { round, turn } = history.state(frame);
      return [`${round} ${turn}`, frame];
    }),
  );
}
