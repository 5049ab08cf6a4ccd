"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  document.documentElement.classList.add("scripted");

  const look = (key) => {
    for (const button of all("button[data-look]")) {
      button.setAttribute("aria-pressed", String(button.dataset.look === key));
    }
    for (const part of all("[data-lens]")) {
      part.hidden = part.dataset.lens !== key;
    }
  };
  for (const button of all("button[data-look]")) {
    button.addEventListener("click", () => look(button.dataset.look));
  }
  const first = document.querySelector("button[data-look]");
  if (first) {
    look(first.dataset.look);
  }

  const flips = all(".flip");
  const choices = all("select[data-filter]");
  const search = document.querySelector("#search");
  const count = document.querySelector("#count");
  const texts = new Map();
  const text = (flip) => {
    if (!texts.has(flip)) {
      texts.set(flip, flip.textContent.toLocaleLowerCase());
    }
    return texts.get(flip);
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
    count.textContent = `${shown} of ${flips.length} examples shown`;
  };
  if (search) {
    for (const choice of choices) {
      choice.addEventListener("change", filter);
    }
    search.addEventListener("input", filter);
    document.querySelector("#clear").addEventListener("click", () => {
      for (const choice of choices) {
        choice.value = "";
      }
      search.value = "";
      filter();
    });
    const unfold = document.querySelector("#unfold");
    unfold.addEventListener("click", () => {
      const open = unfold.getAttribute("aria-pressed") !== "true";
      unfold.setAttribute("aria-pressed", String(open));
      for (const flip of flips) {
        flip.open = open;
      }
    });
    filter();
  }
})();
