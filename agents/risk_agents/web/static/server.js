// Requests of a page to the server, and secrets: the secret of a seat comes in its link once, and is kept.

/** The secret, "" for somebody who only watches. */
export function tokenOf(game) {
  return sessionStorage.getItem(game) ?? localStorage.getItem(game) ?? "";
}

/** Keep the secret of the link by which the page was opened, and take it out of the address. */
export function keepToken(game) {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) return;
  sessionStorage.setItem(game, found);
  localStorage.setItem(game, found);
  history.replaceState(null, "", location.pathname);
}

/** The answer of an address to a JSON value; an Error with the server's reason if it refuses. */
export async function post(address, value) {
  const headers = { "Content-Type": "application/json" };
  const answer = await (await fetch(address, { method: "POST", headers, body: JSON.stringify(value) })).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/** The position that the address of this page names: that of a moment of a game, or a text; null if it names none. */
export async function linkedPosition() {
  const wish = new URLSearchParams(location.hash.slice(1));
  if (wish.has("position")) return { position: wish.get("position"), names: new Array(Number(wish.get("players"))).fill("") };
  if (!wish.has("from")) return null;
  const game = wish.get("from");
  return post("/api/moment", { game, frame: Number(wish.get("frame")), token: tokenOf(game) });
}

/** Keep the secret of a game that this browser has begun. */
export function keepOwner(game, owner) {
  localStorage.setItem(`owner ${game}`, owner);
}

/** The secret of a game, or "" if this browser has not begun the game. */
export function ownerOf(game) {
  return localStorage.getItem(`owner ${game}`) ?? "";
}

/** The address of a new game for the person who began it: the own seat, or the invitations to several people. */
export function invitation(game, tokens, owner) {
  keepOwner(game, owner);
  const seats = tokens.flatMap((token, seat) => (token ? [seat] : []));
  if (seats.length > 1) return `/#${new URLSearchParams({ invite: game, tokens: tokens.join(), owner })}`;
  return `/game/${game}#token=${tokens[seats[0]] || owner}`;
}
