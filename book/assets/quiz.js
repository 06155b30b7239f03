// Lets a reader check an answer of the quiz directive and shows why it is right or not. The right
// option stays unsaid until it is found, or two others have been tried.
"use strict";

const TRIES = 2;

function startQuiz(quiz) {
  const options = [...quiz.querySelectorAll(".quiz-option input")];
  const button = quiz.querySelector(".quiz-check");
  const status = quiz.querySelector(".quiz-status");
  const answers = quiz.querySelector(".quiz-answers");
  const summary = answers.querySelector("summary");
  const explanations = [...answers.querySelectorAll(".quiz-explanation")];
  const allOf = summary.textContent;
  const { right, wrong } = memory.quiz(quiz.id);
  const tried = new Set(wrong);
  let solved = right;

  const explanationOf = (letter) => explanations.find(({ dataset }) => dataset.option === letter);
  const isRight = (explanation) => "right" in explanation.dataset;

  function say(verdict, outcome, explanation) {
    const line = document.createElement("p");
    line.className = "quiz-verdict";
    line.textContent = verdict;
    const reasons = explanation ? [...explanation.children].slice(1) : [];
    status.replaceChildren(line, ...reasons.map((node) => node.cloneNode(true)));
    status.dataset.outcome = outcome;
    // What stands in the status would else be read twice.
    explanations.forEach((other) => { other.hidden = other === explanation; });
    summary.textContent = outcome === "right" ? "The other explanations" : allOf;
    answers.hidden = !(solved || tried.size >= TRIES);
  }

  function unsay() {
    status.replaceChildren();
    delete status.dataset.outcome;
    explanations.forEach((explanation) => { explanation.hidden = false; });
    summary.textContent = allOf;
  }

  function check() {
    const chosen = options.find((option) => option.checked);
    if (!chosen) {
      say("Choose an answer first.", "none");
      return;
    }
    const explanation = explanationOf(chosen.value);
    if (isRight(explanation)) {
      solved = true;
      say("Right.", "right", explanation);
    } else {
      tried.add(chosen.value);
      const again = solved || tried.size >= TRIES ? "" : " Try again.";
      say(`Not quite.${again}`, "wrong", explanation);
    }
    memory.change(({ quizzes }) => { quizzes[quiz.id] = { right: solved, wrong: [...tried] }; });
  }

  answers.hidden = tried.size < TRIES;
  button.hidden = false;
  if (solved) {
    const found = explanations.find(isRight);
    options.find((option) => option.value === found.dataset.option).checked = true;
    say("Right.", "right", found);
  }
  button.addEventListener("click", check);
  options.forEach((option) => {
    // A verdict on one option must not stand beside another.
    option.addEventListener("change", unsay);
    option.addEventListener("keydown", (event) => {
      if (event.key === "Enter") check();
    });
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".quiz").forEach(startQuiz);
});
