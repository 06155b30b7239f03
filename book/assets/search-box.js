// Opens the search, by button, Ctrl+K or /. What searches is loaded when a reader first does so.
"use strict";

(() => {
  const { src } = document.currentScript;

  const load = (name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL(name, src).href;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });

  let loaded;
  function begin(form) {
    loaded ??= load("search-index.js").then(() => load("search.js"));
    loaded.then(() => search.start(form));
  }

  function open(dialog) {
    const field = dialog?.querySelector("input") ?? document.querySelector(".search-form input");
    if (dialog && !dialog.open) dialog.showModal();
    field.focus();
    field.select();
  }

  function isTyping({ target }) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector(".search-form");
    const dialog = form.closest("dialog");
    form.addEventListener("focusin", () => begin(form), { once: true });
    if (!dialog) open(null);
    document.querySelectorAll(".search-open").forEach((button) => {
      button.addEventListener("click", () => open(dialog));
    });
    dialog?.addEventListener("click", (event) => {
      // A click beside what the dialog contains, on its backdrop.
      if (event.target === dialog) dialog.close();
    });
    dialog?.addEventListener("keydown", (event) => {
      // Else the field would first be emptied.
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        dialog.close();
      }
    });
    document.addEventListener("keydown", (event) => {
      const byK = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      const bySlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (byK || (bySlash && !isTyping(event))) {
        event.preventDefault();
        open(dialog);
      }
    });
  });
})();
