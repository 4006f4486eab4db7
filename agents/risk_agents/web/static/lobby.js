// The lobby: a new game, links for its seats, and the open games.

import { element } from "risk/dom";
import { linkedPosition, post } from "risk/server";

const byId = (id) => document.getElementById(id);
const fillSelect = (select, values) => select.replaceChildren(...values.map((value) => element("option", { value }, String(value))));
const OPPONENTS = ["planner", "breaker", "grower", "hunter", "attacker"];

let options = null;

async function load() {
  options = await (await fetch("/api/options")).json();
  fillSelect(byId("preset"), Object.keys(options.presets));
  fillSelect(byId("map"), options.maps);
  const { preset, map, players, attack, defender_dice } = options.proposed;
  const shown = { preset, map, attack, defender: defender_dice };
  Object.entries(shown).forEach(([id, value]) => (byId(id).value = value));
  drawCounts(players);
  byId("preset").addEventListener("change", () => drawCounts());
  byId("count").addEventListener("change", () => drawSeats());
  byId("form").addEventListener("submit", begin);
  await goOn().catch(fail);
  await drawGames();
  document.body.dataset.ready = "true";
}

/** Where the address names a position: only the seats are left to choose. */
async function goOn() {
  const linked = await linkedPosition();
  if (!linked) return;
  const { position, names } = linked;
  byId("position").value = position;
  byId("position").closest("details").open = true;
  byId("new").textContent = "Go on from this position";
  for (const id of ["preset", "map", "count", "attack", "defender"]) byId(id).closest("label").hidden = true;
  fillSelect(byId("count"), [names.length]);
  drawSeats(names);
}

function fail({ message }) {
  byId("error").textContent = message;
}

function drawCounts(players = 3) {
  const counts = options.presets[byId("preset").value];
  fillSelect(byId("count"), counts);
  byId("count").value = counts.includes(players) ? players : counts[0];
  drawSeats();
}

function drawSeats(names = []) {
  const seats = Array.from({ length: Number(byId("count").value) }, (_, seat) => {
    const select = options.programs ? element("input", { list: "agents" }) : element("select");
    if (!options.programs) fillSelect(select, options.players);
    select.value = seat === 0 ? "human" : (OPPONENTS[seat - 1] ?? "grower");
    return element("label", { class: "seat" }, `Seat ${seat}${names[seat] ? `: ${names[seat]}` : ""} `, select);
  });
  byId("seats").replaceChildren(...seats, element("datalist", { id: "agents" }, ...options.players.map((value) => element("option", { value }))));
}

async function begin(event) {
  event.preventDefault();
  byId("error").textContent = "";
  const players = [...byId("seats").querySelectorAll("select, input")].map((select) => select.value);
  const { preset, options: proposed } = options.proposed;
  const chosen = { attack: byId("attack").value, defender_dice: byId("defender").value };
  const rules = byId("preset").value === preset ? { ...proposed, ...chosen } : chosen;
  const wish = { preset: byId("preset").value, map: byId("map").value, players, options: rules, position: byId("position").value };
  await post("/api/games", wish).then(invite, fail);
}

/** Enter a game at once, unless several people need links. */
function invite({ game, owner, tokens }) {
  const links = tokens.flatMap((token, seat) => (token ? [[seat, `/game/${game}#token=${token}`]] : []));
  const own = links[0]?.[1] ?? `/game/${game}#token=${owner}`;
  if (links.length < 2) {
    location.href = own;
    return;
  }
  byId("form").hidden = true;
  byId("links").hidden = false;
  const items = links.map(([seat, href]) => element("li", {}, `Seat ${seat}: `, element("a", { href }, location.origin + href)));
  byId("invitations").replaceChildren(...items);
  byId("enter").href = own;
}

async function drawGames() {
  const games = await (await fetch("/api/games")).json();
  if (games.error) return fail({ message: games.error });
  const linked = ({ game, names }) => (game ? [element("a", { href: `/game/${encodeURIComponent(game)}` }, names.join(", ") || game)] : []);
  const items = games.map((entry) => element("li", {}, ...linked(entry), ` ${entry.state}`));
  byId("games").replaceChildren(...(items.length ? items : [element("li", {}, "none yet")]));
}

byId("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
load();
