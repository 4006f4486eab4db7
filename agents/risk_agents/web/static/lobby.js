// The lobby: a new game, links for its seats, and the games of this server.

import { element, set, write } from "risk/dom";
import { guideGame } from "risk/guide";
import { invitation, linkedPosition, ownerOf, post, takeInvitations, tokenOf } from "risk/server";

const byId = (id) => document.getElementById(id);
const OPPONENTS = ["planner", "breaker", "grower", "hunter", "attacker"];
const SETUPS = {
  claim: "claim territories in turn",
  deal: "deal the territories",
  random: "deal territories and troops (quick)",
  chart: "as on the chart",
  capitals: "with capitals",
};
const HUMAN = "human";

let options = null; // choices of the form, from the server
let known = { agents: {}, refused: [] }; // levels and techniques, and the agents that cannot play this game
let names = []; // names of the seats of a position from another page
let agents = []; // agents that played these seats, "" for people

/** Fill a select with values and their words. */
const fillSelect = (select, entries) =>
  select.replaceChildren(...entries.map(([value, words]) => element("option", { value }, words)));

/** Fill a select with values that need no other words. */
const fillPlain = (select, values) =>
  fillSelect(
    select,
    values.map((value) => [value, value]),
  );

async function load() {
  options = await (await fetch("/api/options")).json();
  fillSelect(
    byId("preset"),
    Object.entries(options.presets).map(([name, { title, players }]) => [
      name,
      `${title}, ${span(players)} players`,
    ]),
  );
  fillSelect(byId("map"), Object.entries(options.maps));
  const { preset, map, players, attack, defender_dice } = options.proposed;
  const shown = { preset, map, attack, defender: defender_dice };
  Object.entries(shown).forEach(([id, value]) => (byId(id).value = value));
  drawMode(players);
  byId("setup").value = options.proposed.setup;
  byId("preset").addEventListener("change", () => drawMode(Number(byId("count").value)));
  byId("count").addEventListener("change", () => drawSeats());
  for (const id of ["map", "setup"]) byId(id).addEventListener("change", () => requestAgents());
  byId("map").addEventListener("change", () => drawPicture());
  byId("position").addEventListener("change", () => readPosition().catch(fail));
  byId("form").addEventListener("submit", begin);
  byId("first").addEventListener("click", () => beginFirst().catch(fail));
  await goOn().catch(fail);
  await drawGames();
  document.body.dataset.ready = "true";
}

const span = (players) => (players.length > 1 ? `${players[0]} to ${players.at(-1)}` : players[0]);

/** Show the links of a game that another page has begun, or a position from another page, or the form. */
async function goOn() {
  const invitations = takeInvitations();
  if (invitations) return showInvitations(invitations);
  const linked = await linkedPosition();
  if (!linked) return requestAgents();
  byId("position").value = linked.position;
  byId("position").closest("details").open = true;
  byId("new").textContent = "Continue from this position";
  return readPosition(linked.names, linked.players);
}

/** Take the number of players, the rules and the map of a pasted position instead of those in the form. */
async function readPosition(namesOfSeats = [], agentsOfSeats = []) {
  const request = (requestAgents.last = {});
  [names, agents] = [namesOfSeats, agentsOfSeats];
  write(byId("error"), "");
  const position = byId("position").value.trim();
  for (const id of ["preset", "mode", "map", "count", "setup", "attack", "defender"]) {
    byId(id).closest("label, .mode").hidden = Boolean(position);
  }
  if (!position) return drawMode(Number(byId("count").value));
  const found = await post("/api/agents", { position });
  if (request !== requestAgents.last) return null;
  known = found;
  fillPlain(byId("count"), [known.players]);
  return drawSeats(true);
}

function fail({ message }) {
  write(byId("error"), message);
}

/** Show the chosen preset in words, and the numbers of players and the set-ups that it allows. */
function drawMode(players) {
  const { words, rounds, players: counts } = options.presets[byId("preset").value];
  write(byId("mode"), `${words} About ${rounds} rounds.`);
  drawPicture();
  fillPlain(byId("count"), counts);
  byId("count").value = counts.includes(players) ? players : counts[0];
  drawSeats();
}

/** Draw a typical position of the chosen preset on the chosen map. */
function drawPicture() {
  const map = new URLSearchParams({ map: byId("map").value });
  set(byId("picture"), "src", `/mode/${byId("preset").value}?${map}`);
}

/** Draw as many seats as there are players; seats that stay keep their players. */
function drawSeats(isPosition = false) {
  const before = seats().map(({ value }) => value);
  const drawn = Array.from({ length: Number(byId("count").value) }, (_, seat) => {
    const input = options.programs ? element("input", { list: "agents" }) : element("select");
    if (!options.programs) fillPlain(input, options.players);
    input.value = agents[seat] || (before[seat] ?? (seat === 0 ? HUMAN : (OPPONENTS[seat - 1] ?? "grower")));
    const about = element("span", { class: "about" });
    input.addEventListener("change", () => describe(input, about));
    return element(
      "label",
      { class: "seat" },
      element("span", {}, `Seat ${seat}${names[seat] ? `: ${names[seat]}` : ""}`),
      input,
      about,
    );
  });
  byId("seats").replaceChildren(
    ...drawn,
    element("datalist", { id: "agents" }, ...options.players.map((value) => element("option", { value }))),
  );
  if (isPosition) return describeAll();
  const { setups } = options.presets[byId("preset").value];
  const [chosen, found] = [byId("setup").value, setups[byId("count").value]];
  fillSelect(
    byId("setup"),
    found.map((setup) => [setup, SETUPS[setup] ?? setup]),
  );
  byId("setup").value = found.includes(chosen) ? chosen : found[0];
  byId("setup").closest("label").hidden = found.length < 2;
  return document.body.dataset.ready ? requestAgents() : null;
}

const seats = () => [...byId("seats").querySelectorAll("select, input")];

/** Get descriptions of the agents, and the agents that cannot play the chosen game, from the server. */
async function requestAgents() {
  const wish = { ...chosenGame(), count: Number(byId("count").value) };
  const request = (requestAgents.last = {});
  describeAll();
  const found = await post("/api/agents", wish).catch(() => null); // begin() shows the problem
  if (!found || request !== requestAgents.last) return;
  known = found;
  describeAll();
}

function describeAll() {
  for (const input of seats()) {
    for (const option of input.options ?? []) {
      option.disabled = known.refused.includes(option.value);
      write(option, optionWords(option.value));
    }
    if (known.refused.includes(input.value))
      input.value = OPPONENTS.find((name) => !known.refused.includes(name)) ?? HUMAN;
    describe(input, input.nextSibling);
  }
}

/** Return the text of a player in the list of a seat. */
function optionWords(name) {
  if (name === HUMAN) return "a person";
  if (known.refused.includes(name)) return `${name} (cannot play this game)`;
  const level = known.agents[name]?.level;
  return level ? `${name} \u2013 ${level}` : name;
}

function describe(input, about) {
  const { level, technique } = known.agents[input.value] ?? {};
  write(about, [level, technique].filter(Boolean).join(": "));
}

function chosenGame() {
  const { preset, options: proposed } = options.proposed;
  const chosen = { attack: byId("attack").value, defender_dice: byId("defender").value };
  if (!byId("setup").closest("label").hidden) chosen.setup = byId("setup").value;
  const rules = byId("preset").value === preset ? { ...proposed, ...chosen } : chosen;
  return { preset: byId("preset").value, map: byId("map").value, options: rules };
}

async function begin(event) {
  event.preventDefault();
  write(byId("error"), "");
  const wish = {
    ...chosenGame(),
    players: seats().map(({ value }) => value),
    position: byId("position").value,
  };
  await post("/api/games", wish).then(({ game, owner, tokens }) => enter(game, tokens, owner), fail);
}

/** Begin the first game of a new player, with a guide. */
async function beginFirst() {
  const { game, tokens, owner } = await post("/api/first", {});
  guideGame(game);
  enter(game, tokens, owner);
}

/** Enter a game at once, unless several people need links. */
function enter(game, tokens, owner) {
  const address = invitation(game, tokens, owner);
  const invitations = takeInvitations();
  if (invitations) showInvitations(invitations);
  else location.href = address;
}

function showInvitations({ game, tokens }) {
  byId("form").hidden = byId("welcome").hidden = true;
  byId("links").hidden = false;
  const links = tokens.flatMap((token, seat) =>
    token ? [[seat, `/game/${encodeURIComponent(game)}#token=${encodeURIComponent(token)}`]] : [],
  );
  byId("invitations").replaceChildren(...links.map(([seat, href]) => invite(seat, href)));
  byId("enter").href = links[0][1];
  byId("new").textContent = "The game is ready";
}

function invite(seat, href) {
  const link = element("a", { href }, location.origin + href);
  const copy = element("button", { type: "button", "aria-label": `Copy the link of seat ${seat}` }, "Copy");
  copy.addEventListener("click", () => copyLink(link, seat));
  return element("li", { class: "invitation" }, element("span", {}, `Seat ${seat} `), copy, link);
}

/** Copy a link. If the browser forbids this, select the link so that the user can copy it. */
async function copyLink(link, seat) {
  try {
    await navigator.clipboard.writeText(link.textContent);
    write(byId("copied"), `Copied the link of seat ${seat}.`);
  } catch {
    getSelection().selectAllChildren(link);
    write(byId("copied"), `The link of seat ${seat} is selected: copy it with the keyboard or the menu.`);
  }
}

async function drawGames() {
  const games = await (await fetch("/api/games")).json();
  if (games.error) return write(byId("told"), games.error);
  byId("games").replaceChildren(...(games.length ? games.map(listed) : [element("li", {}, "none yet")]));
}

/** Return the entry of a game: players, preset, date and state, and buttons to repeat or delete the game. */
function listed({ game, names: players, state, mode, begun }) {
  const facts = [
    mode,
    begun ? new Date(1000 * begun).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "",
    state,
  ].filter(Boolean);
  const title = game
    ? element("a", { href: `/game/${encodeURIComponent(game)}` }, players.join(", ") || game)
    : element("span", {}, "");
  const owner = game ? ownerOf(game) : "";
  const act = (words, run) => {
    const button = element(
      "button",
      { type: "button", "aria-label": `${words}: ${players.join(", ")}` },
      words,
    );
    button.addEventListener("click", () => run().catch(({ message }) => write(byId("told"), message)));
    return button;
  };
  const again = act("Play again", async () => {
    const found = await post("/api/again", { game, token: owner || tokenOf(game) });
    enter(found.game, found.tokens, found.owner);
  });
  const remove = act("Delete", async () => {
    if (!confirm("Delete this game for everybody?")) return;
    await post("/api/delete", { game, token: owner });
    await drawGames();
  });
  return element(
    "li",
    { class: "listed" },
    title,
    element("span", { class: "about" }, facts.join(" \u00b7 ")),
    ...(owner ? [element("span", { class: "row" }, again, remove)] : []),
  );
}

byId("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
load();
