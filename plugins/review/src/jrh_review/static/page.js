"use strict";
// Everything here is a help: without it every page shows the same and links work. Text is only ever set as text.

const every = (selector) => [...document.querySelectorAll(selector)];

const plain = (node) => node.textContent.replace(/\s+/g, " ").trim();

// A heat map is copied a cell to a line, so that its numbers stand in columns of their own.
function lines(table) {
  const rows = [...table.rows].map((row) => [...row.cells]);
  if (!table.dataset.over) { return rows.map((row) => row.map(plain)); }
  const keys = Number(table.dataset.keys);
  const heads = rows[0].map(plain);
  const cells = rows.slice(1).flatMap((row) => row.slice(keys).map((cell, place) => [cell, row, heads[keys + place]]));
  return [
    [...heads.slice(0, keys), table.dataset.over, "Estimate", "Interval", "Notes"],
    ...cells.filter(([cell]) => cell.querySelector(".e")).map(([cell, row, head]) => [
      ...row.slice(0, keys).map(plain), head, plain(cell.querySelector(".e")), plain(cell.querySelector(".i")),
      [...cell.querySelectorAll(".n")].map(plain).join("; "),
    ]),
  ];
}

function csv(table) {
  const cell = (text) => {
    const safe = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
    return `"${safe.replace(/"/g, '""')}"`;
  };
  return lines(table).map((line) => line.map(cell).join(",")).join("\r\n");
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
      button.textContent = "The browser did not allow copying";
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
