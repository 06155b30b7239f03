// What every page does: its colour mode, its menus, the place in its contents, and copying of code.
"use strict";

(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print"); // which is white, whatever the screen is
  const wide = matchMedia("(min-width: 992px)"); // as in the theme's style sheet

  // Where a browser refuses to store something, it holds for this page.
  function keep(storage, content) {
    try {
      Object.entries(content).forEach(([name, value]) => storage.setItem(name, value));
    } catch {
      // Refused.
    }
  }

  function showMode(mode) {
    const system = dark.matches ? "dark" : "light";
    root.dataset.mode = mode;
    root.dataset.theme = paper.matches ? "light" : mode === "auto" ? system : mode;
  }

  function startModes() {
    showMode(["light", "dark"].includes(root.dataset.mode) ? root.dataset.mode : "auto");
    for (const query of [dark, paper]) {
      query.addEventListener("change", () => showMode(root.dataset.mode));
    }
    document.querySelectorAll(".theme-switch-button").forEach((button) => {
      button.addEventListener("click", () => {
        // The first click always changes what is seen.
        const modes = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
        showMode(modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length]);
        keep(localStorage, { mode: root.dataset.mode, theme: root.dataset.theme });
      });
    });
  }

  function move(from, to) {
    to.append(...from.childNodes);
    to.classList.add(...from.classList);
    from.className = "";
  }

  // On a narrow window a sidebar is shown as a dialog, which keeps the keyboard within it.
  function startMenu(name, onWide) {
    const button = document.querySelector(`.${name}-toggle`);
    const sidebar = document.getElementById(`pst-${name}-sidebar`);
    const dialog = document.getElementById(`pst-${name}-sidebar-modal`);
    if (!button || !sidebar || !dialog) return;
    // Nobody can press Escape on a phone, and a screen reader finds no place beside a dialog.
    const close = document.createElement("button");
    close.type = "button";
    close.className = "menu-close";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    button.addEventListener("click", () => {
      if (wide.matches && onWide) {
        onWide(sidebar);
        return;
      }
      move(sidebar, dialog);
      dialog.prepend(close);
      dialog.showModal();
    });
    dialog.addEventListener("close", () => {
      close.remove();
      move(dialog, sidebar);
    });
    dialog.addEventListener("click", (event) => {
      const { left, right, top, bottom } = dialog.getBoundingClientRect();
      const { clientX: x, clientY: y, target } = event;
      // Enter on a link or button has no place, so only a click on the dialog itself is looked at.
      const isOutside = x < left || x > right || y < top || y > bottom;
      const link = target.closest("a");
      const isOnPage = link?.hash && link.pathname === location.pathname;
      if ((target === dialog && isOutside) || isOnPage) dialog.close();
    });
  }

  // The sidebar shows the current page, and stays where a reader has scrolled it.
  function placeSidebar() {
    const sidebar = document.getElementById("pst-primary-sidebar");
    const current = sidebar?.querySelector(".current > a, a.current");
    const kept = sessionStorage.getItem("sidebar-scroll-top");
    if (kept !== null) {
      sidebar.scrollTop = Number(kept);
    } else if (current) {
      const below = current.getBoundingClientRect().top - sidebar.getBoundingClientRect().top;
      sidebar.scrollTop = below - sidebar.clientHeight / 2;
    }
    addEventListener("pagehide", () => {
      keep(sessionStorage, { "sidebar-scroll-top": sidebar.scrollTop });
    });
  }

  function showPlace() {
    const links = [...document.querySelectorAll("#pst-page-toc-nav a")];
    const linkOf = new Map(links.map((link) => {
      const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      return [section?.querySelector("h1, h2, h3, h4, h5, h6") ?? section, link];
    }));
    linkOf.delete(null);
    const mark = (link) => {
      links.forEach((other) => {
        other.classList.toggle("active", other === link);
        if (other === link) other.setAttribute("aria-current", "true");
        else other.removeAttribute("aria-current");
      });
      document.querySelectorAll("#pst-page-toc-nav .toc-entry").forEach((entry) => {
        entry.classList.toggle("active", entry.contains(link));
      });
    };
    const seen = new IntersectionObserver((entries) => {
      const last = entries.filter((entry) => entry.isIntersecting).pop();
      if (last) mark(linkOf.get(last.target));
    }, { rootMargin: "0px 0px -70% 0px" });
    linkOf.forEach((_, heading) => seen.observe(heading));

    // A shadow below the bar says that the page goes on above it.
    const top = document.querySelector(".sbt-scroll-pixel-helper");
    new IntersectionObserver(([{ boundingClientRect }]) => {
      document.body.classList.toggle("scrolled", boundingClientRect.top < 0);
    }).observe(top);
  }

  async function copy(text) {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return;
    }
    // A page from another machine without https has no clipboard.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }

  function addCopyButtons() {
    const status = document.createElement("p");
    status.className = "copy-status";
    status.setAttribute("role", "status");
    document.querySelector("main").append(status);
    document.querySelectorAll("div.highlight > pre").forEach((code) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy-code";
      button.title = "Copy";
      button.setAttribute("aria-label", "Copy this code");
      button.addEventListener("click", async () => {
        await copy(code.textContent);
        button.classList.add("copied");
        status.textContent = "Copied.";
        setTimeout(() => {
          button.classList.remove("copied");
          status.textContent = "";
        }, 2000);
      });
      code.after(button);
    });
  }

  showMode(root.dataset.mode);
  document.addEventListener("DOMContentLoaded", () => {
    startModes();
    startMenu("primary", (sidebar) => sidebar.classList.toggle("pst-sidebar-hidden"));
    startMenu("secondary");
    addCopyButtons();
    // What reads places waits until all scripts have made their changes: so a page is laid out once.
    requestAnimationFrame(() => {
      placeSidebar();
      showPlace();
    });
  });
})();
