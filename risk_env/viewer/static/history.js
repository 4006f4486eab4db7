// The states of a game, frame by frame. A frame is [changes, events] (risk_env/viewer/frames.py).

const KEPT = 128; // frames from one kept state to the next

export class History {
  constructor(start, frames) {
    this.frames = [];
    this.turns = []; // frames in which a turn begins
    this.rounds = []; // frames in which a round begins
    this.samples = []; // {frame, round, territories, troops, income} at the start, every turn and the end
    this.kept = [];
    this.last = structuredClone(start);
    frames.forEach((frame) => this.add(frame));
  }

  get length() {
    return this.frames.length;
  }

  /** Add the next frame. */
  add([changes, events]) {
    const number = this.frames.length;
    change(this.last, changes);
    if (number % KEPT === 0) this.kept.push(structuredClone(this.last));
    this.frames.push({ changes, events });
    const kinds = events.map((event) => event.kind);
    if (kinds.includes("turn")) this.turns.push(number);
    if (kinds.includes("round")) this.rounds.push(number);
    if (number === 0 || kinds.includes("turn") || kinds.includes("over"))
      this.samples.push(sample(this.last, number));
  }

  /** Return a copy of the state of a frame. */
  state(number) {
    const key = Math.floor(number / KEPT);
    const state = structuredClone(this.kept[key]);
    for (let k = key * KEPT + 1; k <= number; k += 1) change(state, this.frames[k].changes);
    return state;
  }

  /** Return the events of a frame. */
  events(number) {
    return this.frames[number].events;
  }

  /**
   * Return the nearest of `frames` before (`step` -1) or after (`step` 1) frame `number`. If there is none,
   * return the first or the last frame of the game.
   */
  next(frames, number, step) {
    if (step > 0) return frames.find((frame) => frame > number) ?? this.length - 1;
    return frames.findLast((frame) => frame < number) ?? 0;
  }
}

function change(state, changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value !== null && typeof value === "object" && !Array.isArray(value))
      Object.assign(state[name], value);
    else state[name] = structuredClone(value);
  }
}

function sample(state, frame) {
  const players = state.alive.length;
  const territories = new Array(players).fill(0);
  const troops = new Array(players).fill(0);
  state.owner.forEach((owner, t) => {
    if (owner < 0 || owner >= players) return;
    territories[owner] += 1;
    troops[owner] += state.troops[t];
  });
  return { frame, round: state.round, territories, troops, income: [...state.income] };
}
