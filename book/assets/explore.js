// Moves the pre-rendered frames that attn_lib.figures.widgets.explore puts on a page.
"use strict";

function startExplorer(figure) {
  const frames = JSON.parse(figure.querySelector(".attn-explore-frames").textContent);
  const controls = figure.querySelector(".attn-explore-controls");
  const sliders = [...controls.querySelectorAll("input[type=range]")];
  const image = figure.querySelector(".attn-explore-frame");
  const text = figure.querySelector(".attn-explore-text");
  // The frame that the page starts with has its picture there and not here.
  frames.find((frame) => !frame.src).src = image.src;
  const values = sliders.map((slider) => JSON.parse(slider.dataset.values));

  function show() {
    let index = 0;
    sliders.forEach((slider, i) => {
      const value = values[i][Number(slider.value)];
      // The frames are in row-major order: the last slider moves fastest.
      index = index * values[i].length + Number(slider.value);
      slider.setAttribute("aria-valuetext", value);
      slider.nextElementSibling.textContent = value;
    });
    image.src = frames[index].src;
    image.alt = frames[index].text;
    text.textContent = frames[index].text;
  }

  // Once a reader turns to the sliders, all frames are loaded, so that none comes late.
  function loadFrames() {
    frames.forEach((frame) => { new Image().src = frame.src; });
  }

  sliders.forEach((slider) => slider.addEventListener("input", show));
  ["focusin", "pointerenter"].forEach((event) => {
    controls.addEventListener(event, loadFrames, { once: true });
  });
  controls.hidden = false;
  // A browser may restore the sliders of a page that is loaded again, but not the picture.
  show();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("figure.attn-explore").forEach(startExplorer);
});
