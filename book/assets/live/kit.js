// What live figures share: elements, handles, fields, one live region, and starting a figure.
// attn_lib.figures.live puts a figure on a page; the script named like it registers it here.
"use strict";

const live = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SETTLED = 600; // milliseconds without a change, before the state is announced
  const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const { src } = document.currentScript;
  const scripts = new Map();
  let ids = 0;

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) {
        element.setAttribute(name, value);
      }
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  const el = (tag, attributes = {}, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  // What stays as it was is not written again, since a browser would lay it out anew.
  function change(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
    }
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  // A paragraph with room for the longest text that it will get, so that nothing below it moves.
  const sentence = (longest, attributes = {}) =>
    el("p", { ...attributes, class: `live-sentence ${attributes.class ?? ""}`, "data-longest": longest });

  const newId = (name) => `live-${name}-${++ids}`;

  // A minus sign as long as a plus, and never −0.
  function number(value, digits = 2, { powersFrom = 1e5 } = {}) {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const text = Math.abs(value) >= powersFrom ? value.toExponential(1) : value.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }

  const grouped = (whole) => `${whole}`.replace(/\B(?=(\d{3})+$)/g, "\u202f"); // 12 345

  // A measured number with its standard error, both to the first digit of the error, like Estimate.
  function measured(value, error) {
    const digits = error > 0 ? Math.max(0, -Math.floor(Math.log10(error))) : 2;
    return `${number(value, digits)} ± ${number(error, digits)}`;
  }

  // A point of a drawing that mouse, finger and arrow keys move. `at` returns [x, y] in the
  // drawing's units, `move` takes them; `toPoint` turns pixels of the drawing into units.
  // With `ends`, [smallest, largest] y, it moves only up and down and all keys of a slider work.
  function handle({ label, at, move, toPoint, text, step = 0.1, colour, radius = 8, ends = null }) {
    const group = svg("g", { class: "live-handle", role: "slider", tabindex: 0, "aria-label": label,
      ...(ends && { "aria-orientation": "vertical", "aria-valuemin": ends[0], "aria-valuemax": ends[1] }) },
      svg("circle", { class: "live-reach", r: 20 }),
      svg("circle", { class: "live-grip", r: radius, style: `--live-colour: ${colour}` }));
    const drawing = () => group.ownerSVGElement;

    function drag(event) {
      const place = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(drawing().getScreenCTM().inverse());
      move(toPoint([place.x, place.y]));
    }
    group.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      group.setPointerCapture(event.pointerId);
      group.focus({ preventScroll: true });
      event.preventDefault();
    });
    // `touch-action` alone does not keep a finger on a part of a drawing from scrolling the page.
    group.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    group.addEventListener("pointermove", (event) => {
      if (group.hasPointerCapture(event.pointerId)) drag(event);
    });
    group.addEventListener("keydown", (event) => {
      const direction = STEPS[event.key];
      const end = ends ? { Home: ends[0], End: ends[1] }[event.key] : undefined;
      if (!(direction || end !== undefined) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const size = event.shiftKey ? 5 * step : step;
      const [x, y] = at();
      if (end !== undefined) move([x, end]);
      else if (ends) move([x, y + size * (direction[0] + direction[1])]);
      else move([x + size * direction[0], y + size * direction[1]]);
    });
    // A handle has two numbers; screen readers are told both in words.
    const show = ([x, y]) => {
      change(group, {
        transform: `translate(${x} ${y})`,
        "aria-valuenow": number(at()[ends ? 1 : 0], 2).replace("−", "-"),
        "aria-valuetext": text(),
      });
    };
    return { element: group, show };
  }

  // An arrow of a plane, with a letter beside its tip, which is a handle. `show` draws it anew and
  // returns where its tip is.
  function arrow({ label, letter, colour, unit, at, move, text }) {
    const line = svg("line", { "stroke-width": 3, style: `stroke: ${colour}`, x1: 0, y1: 0 });
    const mark = svg("text", { "text-anchor": "middle", "aria-hidden": "true" }, letter);
    const tip = handle({ label, at, move, text, colour, toPoint: ([x, y]) => [x / unit, -y / unit] });
    function show() {
      const [x, y] = [at()[0] * unit, -at()[1] * unit];
      change(line, { x2: x, y2: y });
      tip.show([x, y]);
      return [x, y];
    }
    return { line, mark, handle: tip.element, show };
  }

  // How far a point is from the line between the origin and a tip.
  function fromLine([x, y], [tipX, tipY]) {
    const square = tipX ** 2 + tipY ** 2;
    const along = square ? Math.max(0, Math.min(1, (x * tipX + y * tipY) / square)) : 0;
    return Math.hypot(x - along * tipX, y - along * tipY);
  }

  // Where to write the letters of arrows: beyond each tip, or else around it, where they cover no
  // other letter and no tip, are within `half` of the middle, and cross no arrow if possible.
  function letterPlaces(tips, half) {
    const [TURNS, DISTANCES] = [[0, 45, -45, 90, -90, 135, -135, 180], [18, 32]]; // degrees, pixels
    const [WIDE, HIGH, GRIP, STROKE] = [13, 15, 15, 9]; // pixels that a letter needs
    const taken = [];
    for (const [x, y] of tips) {
      const places = DISTANCES.flatMap((distance) => TURNS.map((turn) => {
        const direction = Math.atan2(y, x) + (turn * Math.PI) / 180;
        return [x + distance * Math.cos(direction), y + distance * Math.sin(direction)];
      }));
      const costs = places.map((place, i) => {
        const covered = taken.filter(([otherX, otherY]) =>
          Math.abs(otherX - place[0]) < WIDE && Math.abs(otherY - place[1]) < HIGH).length
          + tips.filter((tip) => Math.hypot(tip[0] - place[0], tip[1] - place[1]) < GRIP).length
          + (Math.max(...place.map(Math.abs)) > half ? 1 : 0);
        return 100 * covered + 5 * tips.filter((tip) => fromLine(place, tip) < STROKE).length + i / 2;
      });
      taken.push(places[costs.indexOf(Math.min(...costs))]);
    }
    return taken;
  }

  // A square plane with arrows, on circles of whole lengths up to `limit`; `unit`: pixels for a
  // length of 1; `below`: what else is drawn, under the arrows.
  function plane({ limit, unit, arrows, below = [] }) {
    const half = limit * unit + 20;
    const element = svg("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, class: "live-plane" },
      ...Array.from({ length: limit }, (_, i) => svg("circle", { class: "live-axes", r: (i + 1) * unit })),
      svg("path", { class: "live-axes", d: `M${-half} 0H${half}M0 ${-half}V${half}` }), ...below,
      ...arrows.map(({ line }) => line), ...arrows.map(({ mark }) => mark),
      ...arrows.map(({ handle: tip }) => tip));
    function show() {
      const tips = arrows.map((one) => one.show());
      letterPlaces(tips, half - 6).forEach(([x, y], i) => change(arrows[i].mark, { x, y: y + 5 }));
    }
    return { element, show };
  }

  function numberField({ label, value, input, step = "any", min = null, max = null }) {
    const field = el("input", {
      type: "number", inputmode: "decimal", step, min, max, "aria-label": label, class: "live-number",
    });
    let last = value; // the last number that could be read
    const restore = () => {
      field.value = last;
      field.removeAttribute("aria-invalid");
    };
    restore();
    field.addEventListener("input", () => {
      const typed = field.valueAsNumber;
      const fits = Number.isFinite(typed) && field.checkValidity();
      field.toggleAttribute("aria-invalid", !fits);
      if (!fits) return;
      last = typed;
      input(typed);
    });
    field.addEventListener("blur", restore);
    return {
      element: field,
      show(now) {
        last = now;
        if (document.activeElement !== field) restore();
      },
    };
  }

  function slider({ label, min, max, step, value, text, input }) {
    const id = newId("slider");
    const range = el("input", { type: "range", id, min, max, step });
    // The announcer speaks for the figure; an output would speak too.
    const output = el("output", { for: id, "aria-live": "off" });
    range.value = value;
    const show = () => {
      const said = text(range.valueAsNumber);
      change(range, { "aria-valuetext": said });
      output.textContent = said;
    };
    range.addEventListener("input", () => { show(); input(range.valueAsNumber); });
    show();
    return {
      element: el("div", { class: "live-slider" }, el("label", { for: id }, label), range, output),
      set(now, most = max) { range.max = most; range.value = now; show(); },
    };
  }

  // Radio buttons. `options` are [value, label].
  function choice({ legend, options, value, input }) {
    const name = newId("choice");
    return el("fieldset", { class: "live-choice" }, el("legend", {}, legend),
      ...options.map(([option, label]) => el("label", {},
        el("input", { type: "radio", name, value: option, checked: option === value,
          onchange: () => input(option) }), label)));
  }

  // Chooses the option with this value, or none if there is no such.
  function check(choices, value) {
    for (const option of choices.querySelectorAll("input")) option.checked = option.value === `${value}`;
  }

  const button = (label, press, attributes = {}) =>
    el("button", { type: "button", class: "live-button", onclick: press, ...attributes }, label);

  const toggle = (label, checked, input) => el("label", { class: "live-toggle" },
    el("input", { type: "checkbox", checked, onchange: (event) => input(event.target.checked) }), label);

  // The head of a table: a column for each name; an empty one is no header.
  const tableHead = (...names) => el("thead", {}, el("tr", {},
    ...names.map((name) => (name === "" ? el("td") : el("th", { scope: "col" }, name)))));

  const listed = (items) => (items.length < 2 ? items.join("") // "A", "A and B", "A, B and C"
    : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`);

  // One live region for a figure: what it says now is announced once it has settled.
  function announcer(root) {
    const region = el("p", { class: "live-announcement", role: "status" });
    root.append(region);
    let timer = null;
    return (text) => {
      if (!root.isConnected) return; // it is still being built: nobody has done anything
      clearTimeout(timer);
      timer = setTimeout(() => { region.textContent = text; }, SETTLED);
    };
  }

  function loadOne(name) {
    if (!scripts.has(name)) {
      scripts.set(name, new Promise((done, failed) => {
        document.head.append(el("script", {
          src: new URL(name, src), onload: done,
          onerror: () => failed(new Error(`${name} could not be loaded`)),
        }));
      }));
    }
    return scripts.get(name);
  }

  // Load scripts of this folder one after the other, each once for all figures of the page.
  async function load(...names) {
    for (const name of names) await loadOne(name);
  }

  // Calls `start` when the element is less than a window away, since few readers see all figures.
  function whenNear(element, start) {
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      start();
    }, { rootMargin: "100%" }).observe(element);
  }

  // `build(root, start)` fills in a figure, given its start; if it fails, the picture stays.
  function figure(name, build, wait = (place, start) => start()) {
    async function begin(place) {
      const start = JSON.parse(place.querySelector(".attn-live-start").textContent);
      const root = el("div", { class: "attn-live-now" });
      await build(root, start);
      place.append(root);
      place.dataset.state = "live";
    }
    document.querySelectorAll(`figure[data-live="${name}"]`).forEach(
      (place) => wait(place, () => begin(place)));
  }

  // A figure of the trained model: its scripts are loaded when the first one comes near.
  function modelFigure(name, build, ...scripts) {
    figure(name, async (root, start) => {
      await load("generator.js", "model.js", "trained-model.js", "model-view.js", ...scripts);
      build(root, start);
    }, whenNear);
  }

  return {
    el, svg, change, write, sentence, newId, number, grouped, measured, handle, plane, arrow, numberField,
    slider, choice, check, button, toggle, tableHead, listed, announcer, load, figure, modelFigure,
  };
})();
