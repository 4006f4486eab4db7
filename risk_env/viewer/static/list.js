// The list of events, of any length. Only the rows on the screen are elements.

import { element, set } from "risk/dom";
import { badge } from "risk/panels";

const ROW = 44; // pixels, as in viewer.css
const MORE = 5; // additional rows above and below the screen

export class EventList {
  /** A list in the scrolling element `root`. A click on a row calls `choose(frame)`. */
  constructor(root, map, words, choose) {
    Object.assign(this, { root, map, words, choose });
    this.rows = []; // {frame, seat, text, kind}
    this.current = -1;
    this.nodes = new Map(); // rows on the screen, by number
    this.height = 0;
    this.sheet = element("div", { class: "sheet" });
    root.replaceChildren(this.sheet);
    root.addEventListener("scroll", () => this.render());
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(([{ contentRect }]) => {
      this.height = contentRect.height;
      root.scrollTop = this.current * ROW - this.height / 2;
      this.render();
    }).observe(root);
  }

  /** Add the events of a frame. */
  add(frame, events) {
    for (const event of events) {
      const text = this.words.sentence(event);
      if (text) this.rows.push({ frame, seat: event.seat ?? -1, text, kind: event.kind });
    }
    this.sheet.style.height = `${this.rows.length * ROW}px`;
  }

  /** Mark the last row of this frame or of an earlier frame, and scroll to this row. */
  show(frame) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].frame <= frame) low = middle + 1;
      else high = middle;
    }
    this.current = low - 1;
    const top = Math.max(0, this.current) * ROW;
    const above = this.root.scrollTop;
    if (top < above || top + ROW > above + this.height) this.root.scrollTop = top - this.height / 2;
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

  /** Make the rows on the screen. Rows that stay on the screen are kept. */
  render() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - MORE);
    const last = Math.min(this.rows.length, first + Math.ceil(this.height / ROW) + 2 * MORE);
    for (const [number, node] of this.nodes) {
      if (number >= first && number < last) continue;
      node.remove();
      this.nodes.delete(number);
    }
    for (let number = first; number < last; number += 1) {
      if (!this.nodes.has(number)) this.sheet.append(this.row(number));
    }
    this.nodes.forEach((node, number) => set(node, "aria-current", number === this.current));
  }

  row(number) {
    const { frame, seat, text, kind } = this.rows[number];
    const node = element("button", {
      class: "event",
      type: "button",
      tabindex: -1,
      title: text,
      "data-kind": kind,
    });
    if (seat >= 0)
      node.append(
        badge(this.map, seat, this.words.names.length),
        element("span", { class: "words" }, `${this.words.name(seat)} ${text}.`),
      );
    else node.append(element("span", { class: "words" }, text));
    this.nodes.set(number, node);
    node.style.top = `${number * ROW}px`;
    node.addEventListener("click", () => this.choose(frame));
    return node;
  }
}
