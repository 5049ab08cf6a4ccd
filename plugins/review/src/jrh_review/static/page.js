"use strict";
// Everything here is a help: without it every page shows the same and links work. Text is only ever set as text.

const every = (selector) => [...document.querySelectorAll(selector)];

function csv(table) {
  const cell = (node) => {
    const text = node.textContent.replace(/\s+/g, " ").trim();
    const safe = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
    return `"${safe.replace(/"/g, '""')}"`;
  };
  return [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\r\n");
}

for (const button of every("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const table = document.getElementById(button.dataset.copy);
    if (!table) { return; }
    try {
      await navigator.clipboard.writeText(csv(table));
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser did not allow it";
    }
  });
}

// A filter leaves out what filters nothing, so that addresses stay short.
for (const form of every("form.filters")) {
  form.addEventListener("submit", () => {
    for (const field of form.elements) { if (field.name && field.value === "") { field.disabled = true; } }
  });
}
window.addEventListener("pageshow", () => { for (const field of every("form.filters :disabled")) { field.disabled = false; } });

const places = every("[data-progress]");
async function poll() {
  let running = false;
  for (const place of places) {
    try {
      const answer = await fetch(place.dataset.progress, { headers: { accept: "application/json" } });
      if (!answer.ok) { continue; }
      for (const now of Object.values(await answer.json())) {
        if (now.ended) { location.reload(); return; }
        running = true;
        for (const name of ["done", "planned", "failures", "calls"]) {
          const node = place.querySelector(`[data-show=${name}]`);
          if (node) { node.textContent = now[name].toLocaleString("en"); }
        }
        const paid = place.querySelector("[data-show=paid]");
        if (paid) { paid.textContent = now.paid.toFixed(4); }
        const bar = place.querySelector("progress");
        bar.max = now.planned || 1;
        bar.value = now.done;
      }
    } catch { /* the server ended; the next look will tell */ }
  }
  if (running || places.length) { setTimeout(poll, document.hidden ? 5000 : 1000); }
}
if (places.length) { setTimeout(poll, 1000); }
