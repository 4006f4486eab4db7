// The analysis board: a tree of positions, with legal actions, win probabilities, plans and odds.

import { Board } from "risk/board";
import { diceOf } from "risk/dice";
import { element, set, write } from "risk/dom";
import { Editor } from "risk/edit";
import { chipTextures, Players } from "risk/panels";
import { Asker, percent } from "risk/question";
import { listenToLooks, rollOf } from "risk/replay";
import { linkedPosition, post } from "risk/server";
import { share, withInterval, Words } from "risk/words";
import { Zoom } from "risk/zoom";

const byId = (id) => document.getElementById(id);

/**
 * The page. A node of the tree is a position, with the answer and the seed of the dice that led to it:
 * {parent, children, answer, chance, position, words, state, events, question}.
 */
class Analysis {
  constructor() {
    this.node = null; // the position that is shown
    this.root = null;
    this.request = {}; // latest request for a position; responses to earlier requests are not shown
    this.patterns = element("div");
    document.body.append(this.patterns);
    this.asker = new Asker((answer) => this.play(answer));
    this.editor = new Editor((edit, words) => this.edit(edit, words));
    this.listen();
    listenToLooks();
  }

  listen() {
    const on = (id, kind, act) => byId(id).addEventListener(kind, act);
    on("paste", "submit", (event) => this.submit(event, () => this.open(byId("position").value, [])));
    on("ask", "submit", (event) => this.submit(event, () => this.askPlans()));
    on("back", "click", () => this.back());
    on("forward", "click", () => this.forward());
    on("again", "click", () => this.again());
    on("play-on", "click", () => this.playOn());
    on("copy", "click", () => this.copyLink());
    for (const id of ["source", "target"]) on(id, "change", () => this.battle());
    for (const id of ["attackers", "defenders"]) on(id, "input", () => this.odds());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  submit(event, act) {
    event.preventDefault();
    return act();
  }

  key(event) {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const acts = { ArrowLeft: () => this.back(), ArrowRight: () => this.forward(), r: () => this.again() };
    acts[event.key]?.();
  }

  // --------------------------------------------------------------------------------------------- positions

  /** Begin with a position from a text. An invalid position changes nothing, and the page shows the error. */
  async open(position, names) {
    write(byId("error"), "");
    const request = (this.request = {});
    const found = await post("/api/analysis/node", { position }).catch((error) =>
      write(byId("error"), error.message),
    );
    if (found && request === this.request) this.begin(found, names);
  }

  /** Begin with a position from the server, as the root of a new tree. */
  begin(found, names) {
    this.setUp(
      found,
      names.some(Boolean) ? names : Array.from({ length: found.players }, (_, seat) => `Player ${seat}`),
    );
    this.root = { ...found, parent: null, children: [] };
    this.chooseBattle(found.question?.legal.find(({ kind }) => kind === "attack")?.places ?? [0, 1]);
    this.show(this.root);
  }

  /** Set up the page for a map and names. The board is replaced only for another map or number of players. */
  setUp({ map, parts, deck }, names) {
    const isNew = map.name !== this.map?.name || names.length !== this.names.length;
    Object.assign(this, { map, names, words: new Words(map, names, null, deck) });
    if (isNew) this.setMap();
    this.board.names = names;
    this.players = new Players(byId("players"), map, this.words);
    this.editor.use(map, this.words, parts);
    byId("play-on").disabled = byId("copy").disabled = false;
  }

  setMap() {
    const root = byId("board").cloneNode(false);
    byId("board").replaceWith(root);
    this.zoom ??= new Zoom(byId("stage"), root, this.map, byId("zoom"));
    this.zoom.use(root, this.map);
    this.board = new Board(root, this.map, this.names, (words) => write(byId("place"), words));
    this.asker.use(this.board);
    root.addEventListener("click", (event) => this.point(event.target.dataset.territory));
    this.patterns.replaceChildren(chipTextures(this.map));
    const places = this.map.territories.map((name, t) => [name, t]).sort();
    for (const id of ["source", "target"])
      byId(id).replaceChildren(...places.map(([name, t]) => element("option", { value: t }, name)));
  }

  show(node) {
    this.request = {};
    this.node = node;
    const { state, events, question } = node;
    this.board.draw(state, events);
    this.board.drawPlans([]);
    byId("plans").replaceChildren();
    write(byId("considered"), "");
    byId("position").value = node.position;
    byId("position").scrollTop = 0;
    this.editor.show(node);
    history.replaceState(null, "", `#${this.link()}`);
    write(byId("copied"), "");
    write(byId("status"), this.words.status(state));
    write(byId("happened"), this.words.sentences(events).join("; "));
    const roll = rollOf(state, events);
    byId("dice").replaceChildren(...(roll ? [diceOf(roll)] : []));
    this.asker.ask(question, question ? "" : "The game is over.");
    this.drawMoves();
    this.battle();
    this.estimate(node);
    document.body.dataset.ready = "true";
  }

  /** Play an answer. An answer that was tried before is shown again, with the same dice. */
  play(answer) {
    const [known] = this.played(this.node, answer);
    return known ? this.show(known) : this.grow(this.node, answer, 0);
  }

  /** Return the positions after an answer in a position, one for each seed of the dice. */
  played(parent, { action, troops }) {
    return parent.children.filter(({ answer }) => answer.action === action && answer.troops === troops);
  }

  /** Play an answer in a position. The result is shown only if nothing else was requested meanwhile. */
  async grow(parent, answer, chance) {
    const request = (this.request = {});
    try {
      const found = await post("/api/analysis/node", { position: parent.position, ...answer, chance });
      if (request === this.request) this.show(this.added({ ...found, parent, children: [], answer, chance }));
    } catch ({ message }) {
      if (request === this.request) this.asker.ask(parent.question, message);
    }
  }

  /** Edit the position. In the tree, the edited position follows the old position. */
  async edit(edit, words) {
    const parent = this.node;
    const request = (this.request = {});
    try {
      const found = await post("/api/analysis/edit", { position: parent.position, ...edit });
      if (request === this.request)
        this.show(this.added({ ...found, words, parent, children: [], answer: { edit } }));
    } catch ({ message }) {
      if (request === this.request) this.editor.refuse(message);
    }
  }

  /** Add a position to the tree. */
  added(node) {
    node.parent.children.push(node);
    return node;
  }

  back() {
    if (this.node?.parent) this.show(this.node.parent);
  }

  forward() {
    if (this.node?.children.length) this.show(this.node.children.at(-1));
  }

  /** Play the move that led to this position again, with other dice. */
  again() {
    if (byId("again").disabled) return;
    const { parent, answer } = this.node;
    this.grow(parent, answer, this.played(parent, answer).length);
  }

  playOn() {
    location.href = `/#${this.link()}`;
  }

  /** Return the parameters of an address that opens this position. */
  link() {
    const { names } = this;
    const parts = [["position", this.node.position], ["players", names.length]];
    return new URLSearchParams([...parts, ...names.map((name) => ["name", name])]);
  }

  async copyLink() {
    const done = navigator.clipboard?.writeText(location.href);
    await (done ?? Promise.reject()).then(
      () => write(byId("copied"), "The link is copied."),
      () => write(byId("copied"), "Copy the address of this page."),
    );
  }

  // --------------------------------------------------------------------------------------------- moves

  drawMoves() {
    const rows = [[this.root, 0], ...variations(this.root, 0)];
    byId("moves").replaceChildren(...rows.map(([node, depth]) => this.move(node, depth)));
    byId("moves").querySelector("[aria-current=true]").scrollIntoView({ block: "nearest" });
    byId("back").disabled = !this.node.parent;
    byId("again").disabled = !this.node.parent || Boolean(this.node.answer.edit);
    byId("forward").disabled = !this.node.children.length;
  }

  move(node, depth) {
    const move = node.parent && !node.answer.edit ? `${this.words.name(node.parent.state.seat)}: ` : "";
    const words = node.parent ? `${move}${node.words}` : "The position";
    const button = element(
      "button",
      { type: "button", "aria-current": node === this.node },
      element("span", {}, words),
      element("span", {}, outcome(node.events)),
    );
    button.style.paddingLeft = `${8 + 14 * depth}px`;
    button.addEventListener("click", () => this.show(node));
    return element("li", {}, button);
  }

  // --------------------------------------------------------------------------------------------- estimates

  /** Show every seat's win probability, which is requested once per position. */
  async estimate(node) {
    this.players.draw(node.state, node.chances, node.intervals);
    write(byId("estimated"), node.estimated ?? "estimating …");
    if (node.estimated) return;
    try {
      const wish = { position: node.position };
      const { bot, games, ...found } = await post("/api/analysis/chances", wish);
      Object.assign(node, found);
      node.estimated = `${games} games played to the end by ${bot}; 95 % intervals`;
    } catch ({ message }) {
      node.estimated = message;
    }
    if (node !== this.node) return;
    this.players.draw(node.state, node.chances, node.intervals);
    write(byId("estimated"), node.estimated);
  }

  async askPlans() {
    const { node } = this;
    if (!node) return;
    write(byId("considered"), "thinking …");
    try {
      const found = await post("/api/analysis/plans", {
        position: node.position,
        agent: byId("agent").value,
      });
      if (node === this.node) this.drawPlans(found);
    } catch ({ message }) {
      if (node === this.node) write(byId("considered"), message);
    }
  }

  drawPlans({ seat, chosen, plans, chances, errors }) {
    const best = plans.find(({ plan }) => plan === chosen);
    write(byId("considered"), `${this.words.name(seat)} would choose: ${best?.words || chosen}`);
    const ends = errors.map((error, other) => interval(chances[other], error));
    if (chances.length) {
      this.players.draw(this.node.state, chances, ends);
      write(byId("estimated"), `estimated by ${byId("agent").value}; 95 % intervals`);
    }
    this.drawList(plans, chosen);
  }

  drawList(plans, chosen) {
    const first = plans
      .filter(({ captures }) => captures.length)
      .map(({ captures, chance }) => ({ ...this.attack(captures[0]), words: share(chance) }));
    const best = first.filter(
      ({ source, target }, i) =>
        first.findIndex((other) => other.source === source && other.target === target) === i,
    );
    this.board.drawPlans(best);
    byId("plans").replaceChildren(...plans.map((plan) => this.plan(plan, plan.plan === chosen, best)));
  }

  /** Return a plan for the list. A click draws its attacks in order. A second click draws all plans again. */
  plan(plan, isChosen, best) {
    const words = `${plan.words || plan.plan}${isChosen ? " (chosen)" : ""}`;
    const chance = withInterval(plan.chance, interval(plan.chance, plan.error));
    const estimate = `${chance}, ${plan.games} games`;
    const button = element(
      "button",
      { type: "button", "aria-pressed": false, title: `the turn of ${plan.plan}` },
      element("span", {}, words),
      element("span", {}, estimate),
    );
    button.addEventListener("click", () => {
      const shows = button.getAttribute("aria-pressed") === "false";
      for (const other of byId("plans").querySelectorAll("button"))
        set(other, "aria-pressed", shows && other === button);
      this.board.drawPlans(
        shows ? plan.captures.map((capture, i) => ({ ...this.attack(capture), words: String(i + 1) })) : best,
      );
    });
    return element("li", {}, button);
  }

  attack([source, target]) {
    const { territories } = this.map;
    return { source: territories.indexOf(source), target: territories.indexOf(target) };
  }

  // --------------------------------------------------------------------------------------------- battles

  chooseBattle([source, target]) {
    byId("source").value = source;
    byId("target").value = target;
  }

  /** The last two clicks on the board choose the territories of a battle. */
  point(place) {
    if (place === undefined) return;
    this.chooseBattle([Number(byId("target").value), Number(place)]);
    this.battle();
  }

  /** Take the numbers of troops from the chosen territories, and show the odds. */
  battle() {
    const { troops } = this.node.state;
    byId("attackers").value = Math.max(1, troops[byId("source").value]);
    byId("defenders").value = Math.max(1, troops[byId("target").value]);
    this.odds();
  }

  async odds() {
    const [attackers, defenders] = ["attackers", "defenders"].map((id) => Number(byId(id).value));
    const asked = (this.asked = {});
    try {
      const { win, attacker_left, defender_left } = await post("/api/analysis/odds", {
        attackers,
        defenders,
      });
      if (asked !== this.asked) return;
      const left = `${attacker_left.toFixed(1)} attackers and ${defender_left.toFixed(1)} defenders`;
      write(byId("odds"), `A blitz captures the territory: ${percent(win)}. On average, ${left} are left.`);
    } catch ({ message }) {
      if (asked === this.asked) write(byId("odds"), message);
    }
  }
}

/**
 * Return the moves after a node, each with its depth of indentation. The first move is followed by the other
 * moves, which are indented with all their continuations. The continuation of the first move comes last.
 */
function variations(node, depth) {
  const [main, ...others] = node.children;
  if (!main) return [];
  const indented = others.flatMap((other) => [[other, depth + 1], ...variations(other, depth + 1)]);
  return [[main, depth], ...indented, ...variations(main, depth)];
}

/** Return the result of a move's battles as a short text: the losses of both sides, and a capture. */
function outcome(events) {
  const battles = events.filter(({ kind }) => kind === "battle");
  if (!battles.length) return "";
  const [lost, killed] = [0, 1].map((side) =>
    battles.reduce((sum, { losses = [0, 0] }) => sum + losses[side], 0),
  );
  return `−${lost} : −${killed}${events.some(({ kind }) => kind === "capture") ? ", taken" : ""}`;
}

/** Return the 95 % interval of a probability with a standard error. */
function interval(chance, error) {
  return [Math.max(0, chance - 1.96 * error), Math.min(1, chance + 1.96 * error)];
}

async function start() {
  window.analysis = new Analysis();
  post("/api/analysis/agents", {}).then(
    ({ agents }) => byId("agent").replaceChildren(...agents.map((name) => element("option", {}, name))),
    () => {},
  );
  try {
    const linked = await linkedPosition();
    if (linked) await window.analysis.open(linked.position, linked.names);
    else window.analysis.begin(await post("/api/analysis/start", {}), []);
  } catch ({ message }) {
    write(byId("error"), message);
  }
  document.body.dataset.ready = "true";
}

start();
