// Compares a reader's prediction with what was computed; see attn_lib.figures.predictions.
"use strict";

function startPrediction(form) {
  const field = form.querySelector("input");
  const verdict = form.querySelector(".attn-predict-verdict");
  const fold = form.querySelector("details");
  const digits = Number(form.dataset.digits);
  const shown = (value) => live.number(value, digits, { powersFrom: Infinity });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answer = Number(form.dataset.answer);
    const off = Number((field.valueAsNumber - answer).toFixed(digits));
    const distance = shown(Math.abs(off));
    const comparison = off === 0 ? "just what you predicted"
      : `${distance} ${off > 0 ? "less" : "more"} than you predicted`;
    verdict.textContent = `It is ${shown(answer)}, ${comparison}.`;
    fold.open = true;
  });
  // A verdict on one number must not stand beside another.
  field.addEventListener("input", () => { verdict.textContent = ""; });
  form.querySelector(".attn-predict-entry").hidden = false;
}

document.querySelectorAll(".attn-predict").forEach(startPrediction);
