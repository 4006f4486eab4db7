// The page of a replay: its data, the controls, and the display.

import { Board } from "risk/board";
import { Chart, ribbon } from "risk/charts";
import { diceOf } from "risk/dice";
import { element, set, write } from "risk/dom";
import { Goals } from "risk/goals";
import { History } from "risk/history";
import { EventList } from "risk/list";
import { chipTextures, Players } from "risk/panels";
import { Review } from "risk/review";
import { TextBoard } from "risk/text_board";
import { share, Words } from "risk/words";
import { Zoom } from "risk/zoom";

const PACE = 2.5; // frames per second at speed 1
const SCHEMA = 1;
const byId = (id) => document.getElementById(id);

/** Return the data of the page: gzip in base64. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

export class Replay {
  /** `follows()` returns true if a zoomed board moves to the place of each event. */
  constructor(facts, follows = () => true) {
    Object.assign(this, { facts, follows });
    this.shown = () => {}; // called with the frame that is shown, and the last frame
    this.history = new History(facts.start, facts.frames);
    this.words = new Words(facts.map, facts.names, facts.seat, facts.rules.deck);
    document.body.append(chipTextures(facts.map));
    this.board = new Board(byId("board"), facts.map, facts.names, (words) => write(byId("place"), words));
    this.zoom = new Zoom(byId("stage"), byId("board"), facts.map, byId("zoom"));
    this.players = new Players(byId("players"), facts.map, this.words, facts.secrets);
    this.goals = new Goals(byId("goals"), facts.map, this.words, facts.goal);
    this.text = new TextBoard(byId("text-board"), facts.map, this.words);
    this.outlook = null; // the viewer's own progress, from the server
    this.list = new EventList(byId("events"), facts.map, this.words, (frame) => this.show(frame));
    this.history.frames.forEach(({ events }, frame) => this.list.add(frame, events));
    this.charts = this.makeCharts();
    this.frame = -1;
    this.timer = null;
    this.slider = byId("slider");
    this.slider.max = this.history.length - 1;
    byId("ribbon").replaceChildren(
      ribbon(this.history.samples, this.history.length, facts.map, facts.names.length),
    );
    this.review = null;
    this.listen();
    this.show(Number(location.hash.slice(1)) || 0);
    if (facts.review) this.tellReview(facts.review);
  }

  /** Show the review of the game in its tab. */
  tellReview(review) {
    this.review = new Review(byId("review"), review, this);
    byId("tab-review").hidden = false;
    this.review.point(this.frame);
  }

  /** Add frames of a running game. A page at the last frame moves to the new last frame. */
  append(frames) {
    const follows = this.frame === this.history.length - 1;
    for (const frame of frames) {
      this.list.add(this.history.length, frame[1]);
      this.history.add(frame);
    }
    this.slider.max = this.history.length - 1;
    if (frames.some(([, events]) => events.some(({ kind }) => kind === "turn" || kind === "over"))) {
      this.charts = this.makeCharts();
      byId("ribbon").replaceChildren(
        ribbon(this.history.samples, this.history.length, this.facts.map, this.facts.names.length),
      );
    }
    if (follows) this.show(this.history.length - 1);
    else {
      this.drawCount();
      this.shown(this.frame, this.history.length - 1);
    }
  }

  /** Show the viewer's own progress, from the server. */
  tell(outlook) {
    this.outlook = outlook;
    this.goals.draw(this.history.state(this.frame), outlook);
  }

  drawCount() {
    write(byId("count"), `${this.frame + 1} / ${this.history.length}`);
  }

  makeCharts() {
    const { names, map, chances } = this.facts;
    const series = Object.fromEntries(
      ["territories", "troops", "income"].map((name) => [
        name,
        this.history.samples.map((sample) => ({ frame: sample.frame, values: sample[name] })),
      ]),
    );
    const titles = { territories: "Territories", troops: "Troops", income: "Income" };
    const charts = Object.entries(series).map(([name, points]) =>
      this.makeChart(titles[name], points, map, names),
    );
    if (chances.length)
      charts.unshift(
        this.makeChart(
          "Chance to win",
          chances.map(([frame, values]) => ({ frame, values })),
          map,
          names,
          share,
        ),
      );
    byId("charts").replaceChildren(...charts.map(({ node }) => node));
    return charts;
  }

  makeChart(title, points, map, names, format) {
    const chart = new Chart(title, map, names, (frame) => this.show(frame));
    chart.draw(points, this.history.length, format);
    return chart;
  }

  /** Show a frame, or the nearest existing frame. */
  show(wanted) {
    const frame = Math.min(Math.max(Math.round(wanted), 0), this.history.length - 1);
    if (frame === this.frame) return;
    this.frame = frame;
    const [state, events] = [this.history.state(frame), this.history.events(frame)];
    this.board.draw(state, events);
    this.players.draw(state, this.facts.chances.findLast(([at]) => at <= frame)?.[1]);
    this.goals.draw(state, this.outlook);
    this.text.draw(state);
    this.list.show(frame);
    this.charts.forEach((chart) => chart.point(frame));
    this.review?.point(frame);
    this.drawStatus(state, events);
    this.slider.value = frame;
    set(this.slider, "aria-valuetext", `${byId("status").textContent}; ${byId("happened").textContent}`);
    if (this.follows()) this.centre(events);
    this.shown(frame, this.history.length - 1);
    if (frame === this.history.length - 1) this.pause();
  }

  drawStatus(state, events) {
    write(byId("status"), this.words.status(state));
    write(byId("happened"), this.words.sentences(events).join("; "));
    const roll = rollOf(state, events);
    byId("dice").replaceChildren(...(roll ? [diceOf(roll)] : []));
    this.drawCount();
  }

  /** Move a zoomed board to the place of an event. */
  centre(events) {
    const place = events.flatMap((event) => [event.target, event.territory]).find((t) => t >= 0);
    if (place !== undefined) this.zoom.centre(this.facts.map.centres[place]);
  }

  // --------------------------------------------------------------------------------------------- controls

  step(unit, direction) {
    this.pause();
    const { history, frame } = this;
    const frames = { turn: history.turns, round: history.rounds }[unit];
    this.show(frames ? history.next(frames, frame, direction) : frame + direction);
  }

  toggle() {
    if (this.timer !== null) return this.pause();
    if (this.frame === this.history.length - 1) this.show(0);
    const tick = () => {
      this.timer = setTimeout(tick, 1000 / (PACE * Number(byId("speed").value)));
      this.show(this.frame + 1);
    };
    this.timer = setTimeout(tick, 0);
    this.drawPlay(true);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.drawPlay(false);
  }

  drawPlay(playing) {
    set(byId("play"), "aria-label", playing ? "Pause" : "Play");
    set(byId("play"), "data-playing", playing);
  }

  listen() {
    byId("play").addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.slider.value));
    });
    for (const button of document.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => this.step(button.dataset.unit, Number(button.dataset.step)));
    }
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const isField = event.target.matches("select, textarea, input:not([type=range])");
    if (isField || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("button") && (event.key === " " || event.key === "Enter")) return;
    const act = this.keys(event)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  keys({ shiftKey }) {
    const unit = shiftKey ? "turn" : "event";
    return {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(unit, 1),
      ArrowLeft: () => this.step(unit, -1),
      ArrowUp: () => this.step("round", -1),
      ArrowDown: () => this.step("round", 1),
      Home: () => this.show(0),
      End: () => this.show(this.history.length - 1),
      "+": () => this.faster(1),
      "-": () => this.faster(-1),
    };
  }

  faster(step) {
    const speed = byId("speed");
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + step, 0), speed.length - 1);
  }
}

/** Return the dice of a frame: the dice of the frame's last roll, or else the dice on the table, if any. */
export function rollOf(state, events) {
  const roll = events.findLast((event) => event.kind === "battle" || event.kind === "roll");
  return roll ?? (state.dice[0].length ? { dice: state.dice } : undefined);
}

/** Listen to the button for the theme, and to the tabs. */
export function listenToLooks() {
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab) =>
    tab.addEventListener("click", () => tabs.forEach((other) => select(other, other === tab))),
  );
  tabs.forEach((tab) =>
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      event.stopPropagation();
      const open = tabs.filter(({ hidden }) => !hidden);
      const at = open.indexOf(tab) + (event.key === "ArrowRight" ? 1 : open.length - 1);
      const next = open[at % open.length];
      next.focus();
      next.click();
    }),
  );
}

function select(tab, selected) {
  set(tab, "aria-selected", selected);
  set(tab, "tabindex", selected ? 0 : -1);
  byId(tab.getAttribute("aria-controls")).hidden = !selected;
}

/** In a notebook, report the number of turns to the board (widget.js), and show the turn of the board. */
function listenToBoard(replay) {
  if (window.parent === window) return;
  const frames = [0, ...replay.history.turns];
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || !Number.isInteger(data?.turn)) return;
    replay.pause();
    replay.show(frames[data.turn] ?? replay.history.length - 1);
  });
  window.parent.postMessage({ turns: frames.length }, "*");
}

async function start(text) {
  const facts = await unpacked(text);
  if (facts.schema !== SCHEMA)
    throw new Error(`the replay has schema ${facts.schema}, but this page can show only schema ${SCHEMA}`);
  listenToLooks();
  window.replay = new Replay(facts);
  listenToBoard(window.replay);
  document.body.dataset.ready = "true";
}

const data = byId("data");
if (data) {
  start(data.textContent).catch((error) => {
    byId("status").replaceChildren(
      element("strong", { role: "alert" }, `This replay cannot be shown: ${error.message}`),
    );
  });
}
