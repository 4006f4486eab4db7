// What happened, as a list of any length: only the rows on the screen are elements.

import { element, set } from "risk/dom";
import { chip } from "risk/panels";

const ROW = 30; // pixels, as in viewer.css
const MORE = 10; // rows beside those on the screen

export class EventList {
  /** A list in the scrolling element `root`; `choose(frame)` is called for the row that is clicked. */
  constructor(root, map, words, choose) {
    Object.assign(this, { root, map, words, choose });
    this.rows = []; // {frame, seat, text, kind}
    this.current = -1;
    this.sheet = element("div", { class: "sheet" });
    root.replaceChildren(this.sheet);
    root.addEventListener("scroll", () => this.render());
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.render()).observe(root);
  }

  /** Add the events of a frame. */
  add(frame, events) {
    for (const event of events) {
      const text = this.words.sentence(event);
      if (text) this.rows.push({ frame, seat: event.seat ?? -1, text, kind: event.kind });
    }
    this.sheet.style.height = `${this.rows.length * ROW}px`;
  }

  /** Mark the last row of a frame or before, and bring it into sight. */
  show(frame) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].frame <= frame) low = middle + 1;
      else high = middle;
    }
    this.current = low - 1;
    const top = Math.max(0, this.current) * ROW;
    const height = this.root.clientHeight;
    if (top < this.root.scrollTop || top + ROW > this.root.scrollTop + height) this.root.scrollTop = top - height / 2;
    this.render();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!step || !this.rows.length) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.min(Math.max(this.current + step, 0), this.rows.length - 1);
    this.choose(this.rows[row].frame);
  }

  render() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - MORE);
    const last = Math.min(this.rows.length, first + Math.ceil(this.root.clientHeight / ROW) + 2 * MORE);
    this.sheet.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, k) => this.row(first + k)));
  }

  row(number) {
    const { frame, seat, text, kind } = this.rows[number];
    const node = element("button", { class: "event", type: "button", tabindex: -1, title: text, "data-kind": kind });
    if (seat >= 0) node.append(chip(this.map, seat, this.words.names.length), element("span", { class: "sr" }, `${this.words.name(seat)} `));
    node.append(element("span", { class: "words" }, text));
    set(node, "aria-current", number === this.current);
    node.style.top = `${number * ROW}px`;
    node.addEventListener("click", () => this.choose(frame));
    return node;
  }
}
