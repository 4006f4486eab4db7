// A tone that announces this seat's turn. The tone is off by default; the browser stores the choice.

import { set } from "risk/dom";

const KEPT = "sound"; // no game has this name
const NOTES = [
  [660, 0],
  [880, 0.14],
]; // frequency in Hz, and start in seconds
const [LENGTH, VOLUME] = [0.3, 0.12]; // length of a note in seconds, and its loudness from 0 to 1

export class Sound {
  constructor(button) {
    this.button = button;
    this.context = null;
    this.turn(localStorage.getItem(KEPT) === "on");
    button.addEventListener("click", () => {
      this.turn(!this.isOn);
      localStorage.setItem(KEPT, this.isOn ? "on" : "off");
      if (this.isOn) this.play();
    });
  }

  turn(isOn) {
    this.isOn = isOn;
    set(this.button, "aria-pressed", isOn);
  }

  /** Play the tone if sound is on. A browser may stay silent before the first click on the page. */
  play() {
    if (!this.isOn) return;
    this.context ??= new AudioContext();
    this.context.resume().then(() => NOTES.forEach((note) => this.note(...note)));
  }

  note(frequency, start) {
    const { context } = this;
    const [tone, loudness] = [context.createOscillator(), context.createGain()];
    const begin = context.currentTime + start;
    tone.frequency.value = frequency;
    loudness.gain.setValueAtTime(VOLUME, begin);
    loudness.gain.exponentialRampToValueAtTime(VOLUME / 100, begin + LENGTH);
    tone.connect(loudness).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH);
  }
}
