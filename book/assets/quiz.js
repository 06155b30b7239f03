// Lets a reader check an answer of the quiz directive and shows why it is right or not.
"use strict";

function startQuiz(quiz) {
  const options = [...quiz.querySelectorAll(".quiz-option input")];
  const button = quiz.querySelector(".quiz-check");
  const status = quiz.querySelector(".quiz-status");
  const answers = quiz.querySelector(".quiz-answers");

  function say(verdict, explanation, outcome) {
    const line = document.createElement("p");
    line.className = "quiz-verdict";
    line.textContent = verdict;
    status.replaceChildren(line, ...explanation);
    status.dataset.outcome = outcome;
  }

  function forget() {
    status.replaceChildren();
    delete status.dataset.outcome;
  }

  function check() {
    const chosen = options.find((option) => option.checked);
    if (!chosen) {
      say("Choose an answer first.", [], "none");
      return;
    }
    const explanation = answers.querySelector(`[data-option="${chosen.value}"]`);
    const right = "right" in explanation.dataset;
    const copies = [...explanation.children].slice(1).map((node) => node.cloneNode(true));
    say(right ? "Right." : "Not quite.", copies, right ? "right" : "wrong");
    answers.hidden = false;
  }

  answers.hidden = true;
  button.hidden = false;
  button.addEventListener("click", check);
  options.forEach((option) => {
    // A verdict on one option must not stand beside another.
    option.addEventListener("change", forget);
    option.addEventListener("keydown", (event) => {
      if (event.key === "Enter") check();
    });
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".quiz").forEach(startQuiz);
});
