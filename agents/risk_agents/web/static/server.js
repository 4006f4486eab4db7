// Requests of a page to the server, and the secrets in them. The link of a seat contains the secret of the
// seat. The browser keeps the secret after the server has accepted it. Anybody can write a link, so a link
// never replaces the secret that is kept for later visits.

const INVITATIONS = "new invitations"; // no game has this name

/** Return the secret of this browser for a game, or "" for somebody who only watches. */
export function tokenOf(game) {
  return sessionStorage.getItem(game) ?? localStorage.getItem(game) ?? "";
}

/** Return the secret in the link that opened the page, or else the kept secret; clear the address. */
export function takeToken(game) {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found) history.replaceState(null, "", location.pathname);
  return found || tokenOf(game);
}

/** Keep a secret that the server has accepted: for this tab, and for later visits if none is kept yet. */
export function keepToken(game, token) {
  if (!token) return;
  sessionStorage.setItem(game, token);
  if (localStorage.getItem(game) === null) localStorage.setItem(game, token);
}

/** Post a JSON value to an address and return the response; throw an Error if the server refuses it. */
export async function post(address, value) {
  const headers = { "Content-Type": "application/json" };
  const answer = await (
    await fetch(address, { method: "POST", headers, body: JSON.stringify(value) })
  ).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/** Return the position that the address of this page names, as a text or as a moment of a game, or null. */
export async function linkedPosition() {
  const wish = new URLSearchParams(location.hash.slice(1));
  if (wish.has("position")) {
    const names = Array.from({ length: Number(wish.get("players")) }, (_, seat) => wish.getAll("name")[seat]);
    return { position: wish.get("position"), names: names.map((name) => name ?? "") };
  }
  if (!wish.has("from")) return null;
  const game = wish.get("from");
  return post("/api/moment", { game, frame: Number(wish.get("frame")), token: tokenOf(game) });
}

/** Keep the owner's secret of a game that this browser has begun. */
function keepOwner(game, owner) {
  localStorage.setItem(`owner ${game}`, owner);
}

/** Return the owner's secret of a game, or "" if this browser has not begun the game. */
export function ownerOf(game) {
  return localStorage.getItem(`owner ${game}`) ?? "";
}

/** Return and remove the invitations that a page of this tab has left: `{ game, tokens }`, or null. */
export function takeInvitations() {
  const left = sessionStorage.getItem(INVITATIONS);
  sessionStorage.removeItem(INVITATIONS);
  return JSON.parse(left);
}

/** Return the address of a new game's page, or of the lobby if several people need links. */
export function invitation(game, tokens, owner) {
  keepOwner(game, owner);
  const seats = tokens.flatMap((token, seat) => (token ? [seat] : []));
  if (seats.length > 1) {
    sessionStorage.setItem(INVITATIONS, JSON.stringify({ game, tokens }));
    return "/";
  }
  return `/game/${game}#token=${tokens[seats[0]] || owner}`;
}
