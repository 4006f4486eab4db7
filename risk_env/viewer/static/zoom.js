// Zoom of a board: by wheel, pinch, double tap, drag, and the button. The board keeps its place on the page.

import { set } from "risk/dom";

const MOST = 6; // largest scale
const READABLE = 0.75; // minimum scale at which names can be read, in pixels per unit of the map
const CLOSE = 1200; // width of the map in pixels after a double tap or the button
const TAP = 300; // milliseconds between the taps of a double tap
const [NEAR, STILL] = [30, 8]; // pixels between two taps; pixels that a finger may move in a tap

export class Zoom {
  /** `stage` is the element around the SVG element `board`, which shows `map`; `button` shows the state. */
  constructor(stage, board, map, button) {
    Object.assign(this, { stage, button });
    this.fingers = new Map(); // pressed pointers: [x, y] by number
    this.moved = false; // true if the present gesture moves the board
    this.ended = 0; // time at which the last finger left the screen
    this.tap = { time: -TAP, x: 0, y: 0 }; // last tap
    this.use(board, map);
    button.addEventListener("click", () => (this.isZoomed ? this.reset() : this.close(this.middle())));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    window.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"])
      window.addEventListener(kind, (event) => this.up(event));
    stage.addEventListener("click", (event) => this.click(event), { capture: true });
  }

  get scale() {
    return this.map.width / this.width;
  }

  get isZoomed() {
    return this.scale > 1.01;
  }

  /** Zoom another board in the same place. */
  use(board, map) {
    Object.assign(this, { board, map });
    this.reset();
  }

  reset() {
    this.show(0, 0, this.map.width);
  }

  /** Show the part of the map with upper left corner (x, y) and this width, but nothing outside the map. */
  show(x, y, width) {
    this.width = Math.min(Math.max(width, this.map.width / MOST), this.map.width);
    const height = (this.width * this.map.height) / this.map.width;
    this.x = Math.min(Math.max(x, 0), this.map.width - this.width);
    this.y = Math.min(Math.max(y, 0), this.map.height - height);
    set(this.board, "viewBox", `${this.x} ${this.y} ${this.width} ${height}`);
    this.stage.classList.toggle("zoomed", this.isZoomed && this.board.clientWidth / this.width > READABLE);
    this.stage.classList.toggle("moves", this.isZoomed);
    set(this.button, "aria-pressed", this.isZoomed);
  }

  /** Return the map coordinates of a point on the screen. */
  place([x, y]) {
    const point = new DOMPoint(x, y).matrixTransform(this.board.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  middle() {
    const box = this.stage.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  /** Change the scale. The map coordinates of this point on the screen do not change. */
  by(factor, point) {
    const [x, y] = this.place(point);
    const width = Math.min(Math.max(this.width / factor, this.map.width / MOST), this.map.width);
    const share = width / this.width;
    this.show(x - (x - this.x) * share, y - (y - this.y) * share, width);
  }

  /** Zoom so that names can be read. */
  close(point) {
    this.by(Math.max(1.5, CLOSE / this.board.clientWidth), point);
  }

  /** Move a zoomed board so that a place of the map is in the middle. */
  centre([x, y]) {
    if (!this.isZoomed) return;
    const height = (this.width * this.map.height) / this.map.width;
    this.show(x - this.width / 2, y - height / 2, this.width);
  }

  // --------------------------------------------------------------------------------------------- gestures

  wheel(event) {
    const page = document.documentElement;
    if (!event.ctrlKey && page.scrollHeight > page.clientHeight + 1) return; // the wheel scrolls the page
    event.preventDefault();
    this.by(Math.exp(-event.deltaY / 300), [event.clientX, event.clientY]);
  }

  down(event) {
    if (event.isPrimary) {
      this.fingers.clear(); // a new gesture; the end of the last gesture may have been missed
      this.moved = false;
    }
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.pressed = [event.clientX, event.clientY];
  }

  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (this.fingers.size === 2) this.pinch(event.pointerId, now);
    else if (this.moved || distance(this.pressed, now) > STILL) this.pan(before, now);
    else return;
    this.fingers.set(event.pointerId, now);
  }

  pan(before, now) {
    this.moved = true;
    const [[ax, ay], [bx, by]] = [this.place(before), this.place(now)];
    this.show(this.x + ax - bx, this.y + ay - by, this.width);
  }

  /** Zoom by the change of the distance between two fingers, about the finger that stays. */
  pinch(pointer, now) {
    this.moved = true;
    const [[, other]] = [...this.fingers].filter(([number]) => number !== pointer);
    const factor = distance(other, now) / Math.max(1, distance(other, this.fingers.get(pointer)));
    this.by(factor, other);
  }

  up(event) {
    this.fingers.delete(event.pointerId);
    this.ended = event.timeStamp;
  }

  /** Ignore the click at the end of a drag. Zoom at the second tap of a double tap. */
  click(event) {
    if (event.target === this.button) return;
    const [x, y, time] = [event.clientX, event.clientY, event.timeStamp];
    const isTouch = event.pointerType === "touch";
    const isDouble =
      isTouch &&
      time - this.tap.time < TAP &&
      distance([x, y], [this.tap.x, this.tap.y]) < NEAR;
    this.tap = { time: isTouch && !isDouble ? time : -TAP, x, y };
    const isDrag = this.moved && time - this.ended < TAP; // a pinch ends without a click
    if (isDouble && !isDrag) {
      if (this.isZoomed) this.reset();
      else this.close([x, y]);
    }
    if (isDouble || isDrag) event.stopPropagation();
    this.moved = false;
  }
}

function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}
