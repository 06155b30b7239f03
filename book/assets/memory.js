// What a reader's own browser remembers of the course. Nothing leaves the browser, and where it
// refuses to store anything, as some do for pages opened from a file, nothing is remembered.
"use strict";

const memory = (() => {
  const KEY = "scaled-dot-product-attention";
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

  // quizzes: {id: {right: boolean, wrong: [letter, …]}}, done: {page: true},
  // place: {page, title, anchor, section}. What another version has stored may have another form.
  function read() {
    let stored = null;
    try {
      stored = JSON.parse(localStorage.getItem(KEY));
    } catch {
      // Refused, or not JSON.
    }
    const { quizzes, done, place } = isObject(stored) ? stored : {};
    return {
      quizzes: isObject(quizzes) ? quizzes : {},
      done: isObject(done) ? done : {},
      place: isObject(place) ? place : null,
    };
  }

  // Reads anew before it writes, because another tab may have written since.
  function change(edit) {
    const content = read();
    edit(content);
    try {
      localStorage.setItem(KEY, JSON.stringify(content));
    } catch {
      // Then nothing is remembered.
    }
  }

  function forget() {
    try {
      localStorage.removeItem(KEY);
    } catch {
      // Then there is nothing to forget.
    }
  }

  // What is known of a quiz: whether it was answered rightly, and which wrong options were tried.
  function quiz(id) {
    const known = read().quizzes[id];
    return { right: known?.right === true, wrong: Array.isArray(known?.wrong) ? known.wrong : [] };
  }

  // Stores something else, because this page may not know yet what the one before has just stored.
  function isUsable() {
    const probe = `${KEY}-probe`;
    try {
      localStorage.setItem(probe, "");
      localStorage.removeItem(probe);
      return true;
    } catch {
      return false;
    }
  }

  return { read, change, forget, quiz, isUsable };
})();
