// A board in a notebook (anywidget): one replay, or two replays that one slider moves to the same turn.

const PACE = 700; // milliseconds per turn

/** Show the replays of `model`, which has `pages`, `titles`, `turn` and `height` (pixels), in `el`. */
function render({ model, el }) {
  const [titles, height] = [model.get("titles"), model.get("height")];
  const frames = model.get("pages").map((page, i) => frameOf(page, titles[i], height));
  const turns = frames.map(() => 0); // last turn of each replay; 0 until the replay has reported it
  const row = element("div", { style: "display: flex; flex-wrap: wrap; gap: 8px" }, ...frames);
  const slider = element("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Turn" });
  const count = element("output", { style: "min-width: 7em; font-variant-numeric: tabular-nums" });
  const play = element("button", { type: "button" }, "Play");
  const buttons = [-1, 1].map((step) => stepButton(step, () => goTo(model.get("turn") + step)));
  let timer = null;

  const goTo = (turn) => {
    pause();
    set(turn);
  };
  const set = (turn) => {
    model.set("turn", Math.min(Math.max(turn, 0), Number(slider.max)));
    model.save_changes();
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  const toggle = () => {
    if (timer !== null) return pause();
    if (model.get("turn") === Number(slider.max)) set(0);
    timer = setInterval(tick, PACE);
    play.textContent = "Pause";
  };
  const tick = () => {
    set(model.get("turn") + 1);
    if (model.get("turn") === Number(slider.max)) pause();
  };
  const draw = () => {
    slider.value = model.get("turn");
    count.textContent = `turn ${model.get("turn")} / ${slider.max}`;
    for (const frame of frames) frame.contentWindow?.postMessage({ turn: model.get("turn") }, "*");
  };
  const hear = ({ source, data }) => {
    const i = frames.findIndex((frame) => frame.contentWindow === source);
    if (i < 0 || !Number.isInteger(data?.turns)) return;
    turns[i] = data.turns;
    slider.max = Math.max(...turns);
    draw();
  };

  slider.addEventListener("input", () => goTo(Number(slider.value)));
  play.addEventListener("click", toggle);
  window.addEventListener("message", hear);
  model.on("change:turn", draw);
  slider.style.flex = "1";
  const style = "display: flex; gap: 8px; align-items: center";
  el.append(element("div", { style }, play, ...buttons, slider, count), row);
  return () => {
    pause();
    window.removeEventListener("message", hear);
  };
}

function frameOf(page, title, height) {
  const style = `border: 0; flex: 1 1 300px; min-width: 0; height: ${height}px`;
  return element("iframe", { srcdoc: page, title, sandbox: "allow-scripts", style });
}

function stepButton(step, act) {
  const words = step < 0 ? "Previous turn" : "Next turn";
  const sign = step < 0 ? "‹" : "›";
  const button = element("button", { type: "button", "aria-label": words, title: words }, sign);
  button.addEventListener("click", act);
  return button;
}

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export default { render };
