// One item a screen. A label is saved in the background while the next item, loaded ahead, is already there. Texts are
// only ever set as text.

import { asker, at, closeHelp, isShortcut, make, posted, shelf, stopwatch, toggleHelp } from "./shared.js";

const ask = asker("jrh label", "label");
const { load, forget } = shelf((place) => ask(`/label/item.json?place=${place}`));
const watch = stopwatch();
const root = at("label");
const doneHere = []; // places labelled in this window, the last one last
let states = [];
let here = -1;
let sight = -1; // the place whose texts are shown
let keys = new Map(); // key -> label of the screen in sight
let saving = Promise.resolve();
let pending = 0;

function count() {
  const open = states.filter((each) => !each).length;
  at("progress").textContent = `item ${here + 1} of ${states.length}, ${states.length - open} done`;
  at("left").textContent = watch.left(open);
}

function draw(found, place) {
  at("title").textContent = found.task;
  at("instruction").hidden = !found.instruction;
  at("instruction").textContent = found.instruction;
  at("meaning").hidden = !found.rubric;
  if (at("rubric").textContent !== found.rubric) { at("rubric").textContent = found.rubric; at("meaning").open = true; }
  at("parts").replaceChildren(...found.parts.map(([name, text]) => make("section", "", make("h2", name), make("pre", text))));
  keys = new Map(found.labels.filter(([, , key]) => key).map(([label, , key]) => [key, label]));
  at("choices").replaceChildren(...found.labels.map(([label, name, key]) => {
    const button = make("button", name);
    button.type = "button";
    if (key) { button.append(make("kbd", key)); }
    button.setAttribute("aria-pressed", String(label === found.own && found.state === "label"));
    button.addEventListener("click", () => save("label", label));
    return button;
  }));
  watch.begin(place);
  sight = place;
  root.dataset.shown = place;
}

async function show(place) {
  if (place < 0 || place >= states.length) { return; }
  const moved = here !== place;
  here = place;
  try {
    const found = await load(place);
    if (here !== place) { return; } // another item was opened meanwhile
    draw(found, place);
    count();
    if (moved) { window.scrollTo(0, 0); }
    // The button that was pressed may have been drawn anew, and has lost the focus.
    if (moved || document.activeElement === document.body) { at("title").focus({ preventScroll: true }); }
  } catch (error) {
    if (!at("trouble").childNodes.length) { at("trouble").textContent = error.message; }
    if (here === place) { here = sight; } // what is in sight
    return;
  }
  if (place + 1 < states.length) { load(place + 1).catch(() => {}); }
}

function next() {
  const later = states.findIndex((each, place) => place > here && !each);
  const any = later >= 0 ? later : states.findIndex((each) => !each);
  if (any >= 0 && any !== here) { show(any); } else { show(Math.min(here + 1, states.length - 1)); count(); }
}

function save(action, label = null) {
  if (here < 0 || sight !== here) { return; } // a label is about the item in sight, also where the next is slow to load
  const place = here;
  const before = states[place];
  const seconds = watch.seconds();
  states[place] = action === "undo" ? "" : action;
  pending += 1;
  at("saved").textContent = "saving";
  at("trouble").replaceChildren();
  if (action === "undo") { doneHere.splice(doneHere.lastIndexOf(place) >>> 0, 1); } else { doneHere.push(place); }
  saving = saving.then(async () => {
    try {
      const known = await load(place);
      const sent = { place, version: known.version, action, label, seconds };
      const done = await ask("/label/decide", posted(root.dataset.csrf, sent));
      states[place] = done.state;
      forget(place);
      if (action === "label") { watch.add(seconds); }
      pending -= 1;
      at("saved").textContent = pending ? "saving" : "saved";
      if (here === place) { await show(place); }
    } catch (error) {
      states[place] = before;
      if (error.answered) { forget(place); } // read it again: there may be a later label
      pending -= 1;
      at("saved").textContent = "not saved";
      at("trouble").replaceChildren(make("strong", "Not saved. "), document.createTextNode(`Item ${place + 1}: ${error.message}`));
      show(place);
    }
    count();
  });
  if (action !== "undo") { next(); }
}

async function undo() {
  const last = doneHere.at(-1);
  await show(last === undefined ? here : last);
  if (sight >= 0 && states[sight]) { save("undo"); }
}

const own = {
  j: () => show(here + 1), k: () => show(here - 1), s: () => save("skip"), u: undo,
  "?": toggleHelp,
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { closeHelp(); return; }
  if (!isShortcut(event) || here < 0) { return; }
  const key = event.key.toLowerCase();
  if (Object.hasOwn(own, key)) { event.preventDefault(); own[key](); } else if (sight === here && keys.has(key)) {
    event.preventDefault();
    save("label", keys.get(key));
  }
});
for (const button of document.querySelectorAll("[data-key]")) { button.addEventListener("click", () => own[button.dataset.key]()); }
window.addEventListener("beforeunload", (event) => { if (pending) { event.preventDefault(); } });

ask("/label/queue.json").then((found) => {
  states = found.states;
  watch.knows(found.seconds);
  show(Math.max(states.findIndex((each) => !each), 0));
}).catch((error) => { at("trouble").textContent = error.message; });
