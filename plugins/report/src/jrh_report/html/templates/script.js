"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  document.documentElement.classList.add("scripted");

  // Folded here and not in the text of the page, so that without scripts everything is in sight.
  for (const fold of all("details.fold")) {
    fold.open = false;
  }
  const reveal = (node) => {
    for (let each = node; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") {
        each.open = true;
      }
    }
  };
  // A link to a section asks for all of it.
  const lead = () => {
    const target = document.getElementById(location.hash.slice(1).split("?")[0]);
    if (target) {
      reveal(target);
      all("details.fold", target).forEach(reveal);
    }
    return target;
  };
  for (const link of all("a[href^='#']")) {
    link.addEventListener("click", () => setTimeout(lead));
  }
  window.addEventListener("hashchange", lead);
  // The buttons of a section choose what its own heat maps show.
  const look = (chosen) => {
    const section = chosen.closest("section");
    for (const button of section.querySelectorAll("button[data-look]")) {
      button.setAttribute("aria-pressed", String(button === chosen));
    }
    for (const part of section.querySelectorAll("[data-lens]")) {
      part.hidden = part.dataset.lens !== chosen.dataset.look;
    }
  };
  for (const button of all("button[data-look]")) {
    button.addEventListener("click", () => look(button));
  }
  for (const first of all("button[data-look]:first-of-type")) {
    look(first);
  }

  // One task at a time; `#task-1` in the address is the second one, so that a link leads to it.
  const tabs = all("button[data-task-tab]");
  const turn = (place) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-pressed", String(tab.dataset.taskTab === place));
    }
    for (const part of all("[data-of]")) {
      part.hidden = place !== "" && part.dataset.of !== "" && part.dataset.of !== place;
    }
  };
  const asked = () => {
    const found = /^#task-(\d+)$/.exec(location.hash);
    return found && tabs.some((tab) => tab.dataset.taskTab === found[1]) ? found[1] : null;
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => {
      turn(tab.dataset.taskTab);
      history.replaceState(null, "", tab.dataset.taskTab === "" ? "#answer" : `#task-${tab.dataset.taskTab}`);
    });
  }
  if (tabs.length > 0) {
    turn(asked() || "0");
    window.addEventListener("hashchange", () => asked() && turn(asked()));
  }

  // Rows are sorted by the estimate of a cell, by a number, or by text; a second press turns the order round.
  const key = (cell) => {
    const shown = cell ? (cell.querySelector(".e") || cell).textContent.trim() : "";
    const number = Number(shown.replace(/[,%$]/g, ""));
    return shown !== "" && Number.isFinite(number) ? number : shown;
  };
  const compare = (one, other) => {
    if (typeof one !== typeof other) {
      return typeof one === "number" ? -1 : 1;
    }
    return typeof one === "number" ? one - other : one.localeCompare(other);
  };
  const sortable = (table) => {
    const heads = Array.from(table.tHead ? table.tHead.rows[0].cells : []);
    const body = table.tBodies[0];
    if (!body || body.rows.length < 3 || table.tHead.rows.length > 1 || table.querySelector("[colspan], [rowspan]")) {
      return;
    }
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort scripted-only";
      button.textContent = "\u2195";
      button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const each of heads) {
          each.removeAttribute("aria-sort");
        }
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = Array.from(body.rows).map((row) => [key(row.cells[place]), row]);
        rows.sort((one, other) => (up ? 1 : -1) * compare(one[0], other[0]));
        body.append(...rows.map(([, row]) => row));
      });
      head.append(button);
    });
  };
  all("table").forEach(sortable);

  const flips = all(".flip");
  const choices = all("select[data-filter]");
  const search = document.querySelector("#search");
  const count = document.querySelector("#count");
  const more = document.querySelector("#more-flips") || {};
  const texts = new Map();
  const text = (flip) => {
    if (!texts.has(flip)) {
      texts.set(flip, flip.textContent.toLocaleLowerCase());
    }
    return texts.get(flip);
  };
  const cases = "#flips?";
  // What is chosen is in the address, so that a link leads to the same examples.
  const remember = () => {
    const chosen = new URLSearchParams();
    for (const each of [...choices, search]) {
      if (each.value !== "") {
        chosen.set(each.dataset.filter || "search", each.value);
      }
    }
    const written = String(chosen);
    if (written !== "") {
      history.replaceState(null, "", cases + written);
    } else if (location.hash.startsWith(cases)) {
      history.replaceState(null, "", "#flips");
    }
  };
  const recall = () => {
    const chosen = new URLSearchParams(location.hash.startsWith(cases) ? location.hash.slice(cases.length) : "");
    for (const each of [...choices, search]) {
      each.value = chosen.get(each.dataset.filter || "search") || "";
      // An option of another run: all are shown, not none.
      each.value = each.selectedIndex === -1 ? "" : each.value;
    }
    filter();
  };
  const filter = () => {
    const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const flip of flips) {
      const fits =
        choices.every((choice) => choice.value === "" || flip.dataset[choice.dataset.filter] === choice.value) &&
        words.every((word) => text(flip).includes(word));
      flip.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    if (shown < flips.length) {
      more.open = true;
    }
    count.textContent = `${shown} of ${flips.length} examples match`;
  };
  if (search) {
    for (const choice of choices) {
      choice.addEventListener("change", () => (filter(), remember()));
    }
    search.addEventListener("input", () => (filter(), remember()));
    window.addEventListener("hashchange", () => location.hash.startsWith(cases) && recall());
    document.querySelector("#clear").addEventListener("click", () => {
      for (const choice of choices) {
        choice.value = "";
      }
      search.value = "";
      filter();
      remember();
    });
    for (const cell of all("[data-cases]")) {
      const [judge, task, test] = cell.dataset.cases.split(" ");
      const here = flips.filter((flip) => [flip.dataset.judge, flip.dataset.task, flip.dataset.test].join(" ") === cell.dataset.cases);
      if (here.length === 0) {
        continue;
      }
      const button = document.createElement("button");
      button.type = "button";
      button.className = "cases scripted-only";
      button.textContent = `${cell.dataset.fail}, ${here.length} shown`;
      button.addEventListener("click", () => {
        for (const choice of choices) {
          choice.value = { judge, task, test }[choice.dataset.filter] || "";
        }
        search.value = "";
        filter();
        remember();
        reveal(here[0]);
        here[0].querySelector("summary").focus();
        here[0].scrollIntoView();
      });
      cell.append(button);
    }
    const unfold = document.querySelector("#unfold");
    unfold.addEventListener("click", () => {
      const open = unfold.getAttribute("aria-pressed") !== "true";
      unfold.setAttribute("aria-pressed", String(open));
      more.open = more.open || open;
      for (const flip of flips) {
        flip.open = open;
      }
    });
    recall();
  }

  // A term is explained on hover by its title; on focus and by a tap, which focuses, at the foot of the window.
  for (const term of all("abbr[title]")) {
    term.tabIndex = 0;
    term.setAttribute("role", "note");
  }

  // All of the page, as for a PDF that replaces it.
  if (location.hash === "#full") {
    all("details").forEach(reveal);
    for (const part of all("[data-of], [data-lens]")) {
      part.hidden = false;
    }
  }

  // Now that tasks and folds are as they will be, the address leads to the right place.
  const target = lead();
  if (target) {
    target.scrollIntoView();
  }
})();
