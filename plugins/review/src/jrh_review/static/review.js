// One case a screen. A decision is saved in the background while the next case, loaded ahead, is already there. Texts are
// only ever set as text.

import { chooseKeys } from "./keys.js";
import { asker, at, closeHelp, isShortcut, make, posted, remember, remembered, shelf, stopwatch, toggleHelp } from "./shared.js";

const ask = asker("jrh review", "decide");
const { load, forget } = shelf((id) => ask(`/review/case.json?case=${encodeURIComponent(id)}`));
const watch = stopwatch();
const root = at("review");
const decidedHere = []; // cases decided in this window, the last one last
let cases = [];
let here = -1;
let saving = Promise.resolve();
let pending = 0;
let saves = 0; // begun in this window
let inline = remembered("inline") === true;
const drafts = new Map(); // case -> what is typed and not saved, also where the browser keeps nothing
const MOST = 500; // messages of a transcript that the server sends
let wrong = null; // why an edit was refused: case, text and message
let atEnd = false; // all cases that are here are decided: a new one is shown when it arrives

function pieces(all, tag) {
  const node = make("pre");
  for (const [changed, text] of all) { node.append(changed ? make(tag, text) : document.createTextNode(text)); }
  return node;
}

// Both texts in one. Null where what they share is not the same stretch of both, as where a long text is cut.
function merged(before, after) {
  const [left, right] = [before, after].map((all) => all.filter(([, text]) => text).map((each) => [...each]));
  const shared = (all) => all.filter(([changed]) => !changed).map(([, text]) => text).join("");
  if (shared(left) !== shared(right)) { return null; }
  const node = make("pre");
  while (left.length || right.length) {
    if (left.length && left[0][0]) { node.append(make("del", left.shift()[1])); continue; }
    if (right.length && right[0][0]) { node.append(make("ins", right.shift()[1])); continue; }
    const size = Math.min(left[0][1].length, right[0][1].length);
    node.append(document.createTextNode(left[0][1].slice(0, size)));
    for (const side of [left, right]) {
      side[0][1] = side[0][1].slice(size);
      if (!side[0][1]) { side.shift(); }
    }
  }
  return node;
}

function part({ name, same, before, after }) {
  const head = make("h2", name);
  if (same !== undefined) { return make("section", "", head, make("pre", same)); }
  head.tabIndex = -1;
  head.dataset.changed = name;
  head.append(" ", tag("edited"));
  const one = inline ? merged(before, after) : null;
  if (one) { return make("section", "", head, one); }
  const sides = make("div", "", make("div", "", make("h3", "Original"), pieces(before, "del")),
    make("div", "", make("h3", "Perturbed"), pieces(after, "ins")));
  sides.className = "sides";
  return make("section", "", head, sides);
}

function tag(text) {
  const node = make("span", text);
  node.className = "tag bad";
  return node;
}

// The next part that the test or the reviewer changed; after the last one the first.
function nextChange() {
  const heads = [...document.querySelectorAll("[data-changed]")];
  const head = heads[(heads.indexOf(document.activeElement) + 1) % heads.length];
  if (head) { head.focus(); head.scrollIntoView({ block: "start" }); }
}

function told(decision, before) {
  const text = [decision.action, decision.reason, decision.expected && `expected: ${decision.expected}`].filter(Boolean).join(" · ");
  const node = make("div", "", make("p", `${before} ${text}`));
  for (const [name, after] of decision.after) { node.append(make("h3", `${name}, edited`), make("pre", after)); }
  return node;
}

function count() {
  const done = cases.filter((each) => each.state && each.state !== "skip" && each.state !== "conflict").length;
  at("progress").textContent = `case ${here + 1} of ${cases.length}, ${done} decided`;
  at("left").textContent = watch.left(cases.filter((each) => !each.state || each.state === "conflict").length);
}

// Stays open, or closed, from case to case as the reviewer left it.
function context([name, text]) {
  const node = make("details", "", make("summary", name), make("pre", text));
  node.open = (remembered("unfolded") || []).includes(name);
  node.addEventListener("toggle", () => {
    const others = (remembered("unfolded") || []).filter((each) => each !== name);
    remember("unfolded", node.open ? [...others, name] : others);
  });
  return node;
}

function draw(found) {
  at("case-title").textContent = `${found.item} · ${found.test}${found.variant ? `, ${found.variant}` : ""}`;
  const expected = (found.choices.find(([code]) => code === found.expected) || ["", ""])[1];
  const facts = [["Task", found.task], ["Gold", found.gold], ["Expected", expected],
    ...found.validators.map(([name, answer]) => [`Validator ${name}`, answer])];
  at("facts").replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) => make("div", "", make("dt", name), make("dd", value))));
  const decided = at("decided");
  decided.replaceChildren();
  if (found.open) {
    decided.append(make("h2", found.settlement ? "Settled" : "Decided by two people: your decision settles the case"));
    for (const each of found.others) { decided.append(told(each, `${each.reviewer}:`)); }
    if (found.settlement) { decided.append(told(found.settlement, `Settled by ${found.settlement.reviewer}:`)); }
  } else if (found.own) {
    decided.append(make("p", `Your decision: ${found.own.action}${found.own.reason ? `, ${found.own.reason}` : ""}`));
  }
  at("parts").replaceChildren(...found.parts.map(part));
  if (found.parts.every((each) => each.same !== undefined)) { at("parts").prepend(make("p", "The texts are those of the reference condition.")); }
  if (found.parts.length >= MOST) { at("parts").append(make("p", `A page shows the first ${MOST} messages. The table of --export has all.`)); }
  at("context").replaceChildren(...found.context.map(context));
}

// A case has at most one draft. It goes when its decision is saved; a form that is cancelled shows it when it is opened again.
const draftKey = (id) => `draft-${document.title}-${id}`;
const draftOf = (id) => drafts.get(id) || remembered(draftKey(id));

function keepDraft(id, draft) {
  if (draft) { drafts.set(id, draft); } else { drafts.delete(id); }
  remember(draftKey(id), draft);
}

function openDraft(id, open) {
  const draft = draftOf(id);
  if (draft) { keepDraft(id, { ...draft, open }); }
}

function typed(action) {
  const areas = [...at("texts").querySelectorAll("textarea")];
  const texts = Object.fromEntries(areas.map((area) => [area.name, area.value]));
  keepDraft(cases[here].id, { action, open: true, reason: at("reason").value, texts, expected: at("expected").value });
}

function cancel() {
  openDraft(cases[here].id, false);
  closeForms();
}

function closeForms() {
  const left = typing();
  for (const id of ["rejecting", "editing"]) { at(id).hidden = true; }
  at("decide").hidden = false;
  if (left) { at("case-title").focus({ preventScroll: true }); } // a hidden field keeps the focus for a moment, and with it the keys
}

const typing = () => !at("rejecting").hidden || !at("editing").hidden;

async function show(place) {
  if (place < 0 || place >= cases.length) { return; }
  here = place;
  closeForms();
  const { id } = cases[place];
  try {
    const found = await load(id);
    if (cases[here].id !== id) { return; } // another case was opened meanwhile
    draw(found);
    root.dataset.shown = id;
    watch.begin(id);
    count();
    window.scrollTo(0, 0);
    at("case-title").focus({ preventScroll: true });
    const draft = draftOf(id);
    if (draft && draft.open) { await (draft.action === "edit" ? edit() : reject()); }
  } catch (error) {
    if (!at("trouble").childNodes.length) { at("trouble").textContent = error.message; }
    if (here === place) { here = cases.findIndex((each) => each.id === root.dataset.shown); } // what is in sight
    return;
  }
  if (cases[place + 1]) { load(cases[place + 1].id).catch(() => {}); }
}

function next() {
  const open = (each) => !each.state || each.state === "conflict";
  const later = cases.findIndex((each, place) => place > here && open(each));
  const any = later >= 0 ? later : cases.findIndex(open);
  atEnd = any < 0;
  if (any >= 0 && any !== here) { show(any); } else { show(Math.min(here + 1, cases.length - 1)); count(); }
}

function failed(id, message) {
  const place = cases.findIndex((each) => each.id === id);
  at("trouble").replaceChildren(make("strong", "Not saved. "), document.createTextNode(`${cases[place].item}: ${message} `));
  if (typing() && cases[here].id === id) { return; }
  if (typing()) { // what is being typed is not taken away
    const back = make("button", "Go to the case");
    back.addEventListener("click", () => show(place));
    at("trouble").append(back);
  } else {
    show(place);
  }
}

function save(action, more = {}) {
  const entry = cases[here];
  const before = entry.state;
  const { id } = entry;
  const seconds = watch.seconds();
  entry.state = action === "undo" ? "" : action;
  pending += 1;
  saves += 1;
  const waits = action === "edit"; // its form stays open until it is saved, and takes no second edit meanwhile
  if (!waits) { openDraft(id, false); } // opened again if it is not saved
  if (waits) { at("editing").setAttribute("data-saving", ""); }
  at("saved").textContent = pending > 1 ? `saving ${pending} decisions` : "saving";
  at("trouble").replaceChildren();
  if (action === "undo") { decidedHere.splice(decidedHere.lastIndexOf(id) >>> 0, 1); } else { decidedHere.push(id); }
  saving = saving.then(async () => {
    let done = null;
    try {
      const known = await load(id);
      const sent = { case: id, version: known.version, settles: known.open, action, ...more };
      done = await ask("/review/decide", posted(root.dataset.csrf, sent));
      if (action !== "undo" && action !== "skip") { watch.add(seconds); }
      entry.state = done.state;
      keepDraft(id, null);
      forget(id);
      pending -= 1;
      at("saved").textContent = pending ? "saving" : "saved";
      if (waits) { at("editing").removeAttribute("data-saving"); }
      if (cases[here].id === id && waits) { closeForms(); next(); } else if (cases[here].id === id && !typing()) { show(here); }
    } catch (error) {
      if (waits) { at("editing").removeAttribute("data-saving"); }
      entry.state = before;
      if (error.answered) { forget(id); } // read it again: there may be a later decision
      pending -= 1;
      at("saved").textContent = "not saved";
      openDraft(id, action === "reject" || waits);
      wrong = waits && error.text ? { id, name: error.text, message: error.message } : null;
      if (waits && cases[here].id === id) { load(id).then(draw, () => {}); } // with a later decision, if there is one
      failed(id, error.message);
      if (wrong && cases[here].id === id) { pointAtWrong(); }
    }
    count();
    return done;
  });
  if (waits) { return; }
  closeForms();
  if (action !== "undo") { next(); }
}

// Says next to the box why its text was refused.
function pointAtWrong() {
  const area = [...at("texts").querySelectorAll("textarea")].find((each) => each.name === wrong.name);
  if (!area) { return; }
  document.getElementById("wrong")?.remove();
  const said = make("p", wrong.message);
  said.id = "wrong";
  area.after(said);
  area.setAttribute("aria-invalid", "true");
  area.setAttribute("aria-describedby", "wrong");
  area.focus();
  said.scrollIntoView({ block: "nearest" });
}

async function reject() {
  at("decide").hidden = true;
  at("rejecting").hidden = false;
  at("reason").value = (draftOf(cases[here].id) || {}).reason || "";
  at("reason").focus();
}

async function edit() {
  const id = cases[here].id;
  const found = await load(id);
  if (cases[here].id !== id) { return; }
  const draft = draftOf(id) || {};
  at("decide").hidden = true;
  at("editing").hidden = false;
  const changed = found.parts.filter((each) => each.same === undefined).map((each) => each.name);
  at("texts").replaceChildren(...found.texts.map(([name, text]) => {
    const area = make("textarea");
    area.name = name;
    area.value = text;
    area.dataset.before = area.value; // as the browser keeps it: its line ends may be others
    area.value = (draft.texts || {})[name] ?? text;
    area.rows = Math.min(14, Math.max(2, area.value.split("\n").length + Math.floor(area.value.length / 90)));
    const label = make("label", name);
    if (found.texts.length > 1 && changed.some((each) => name === each || name.startsWith(`${each}, `))) {
      area.dataset.first = "";
      label.append(" ", tag("edited"));
    }
    label.append(area);
    return label;
  }));
  at("alike-label").hidden = !found.texts.some(([name]) => TEMPLATE.includes(name));
  at("expected").replaceChildren(...found.choices.map(([code, said]) => {
    const choice = make("option", said);
    choice.value = code;
    choice.selected = code === (draft.action === "edit" ? draft.expected : found.expected);
    return choice;
  }));
  (at("texts").querySelector("[data-first]") || at("texts").querySelector("textarea") || at("expected")).focus();
  if (wrong && wrong.id === id) { pointAtWrong(); }
}

const TEMPLATE = ["prompt template", "system prompt"];

async function finishEdit() {
  if (at("editing").hasAttribute("data-saving")) { at("saved").textContent = "still saving this edit"; return; }
  wrong = null;
  document.getElementById("wrong")?.remove();
  at("texts").querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
  const { test } = cases[here];
  const found = await load(cases[here].id);
  const areas = [...at("texts").querySelectorAll("textarea")];
  const after = Object.fromEntries(found.texts.filter(([name]) => found.edited.includes(name)));
  for (const area of areas) { if (area.value !== area.dataset.before) { after[area.name] = area.value; } }
  const alike = at("alike").checked && !at("alike-label").hidden;
  save("edit", { after, expected: at("expected").value });
  if (alike) { saving = saving.then((saved) => saved && editAlike(test, found, after)); }
}

// A template belongs to many cases: those that show the same one, and have no decision, get the same edit.
async function editAlike(test, edited, texts) {
  const after = Object.fromEntries(Object.entries(texts).filter(([name]) => TEMPLATE.includes(name)));
  const template = (found) => JSON.stringify(found.texts.filter(([name]) => TEMPLATE.includes(name)));
  let done = 0;
  pending += 1;
  for (const other of cases.filter((each) => !each.state && each.test === test)) {
    try {
      const found = await load(other.id);
      if (found.open || template(found) !== template(edited)) { continue; }
      const sent = { case: other.id, version: found.version, settles: false, action: "edit", after };
      other.state = (await ask("/review/decide", posted(root.dataset.csrf, sent))).state;
      forget(other.id);
      decidedHere.push(other.id);
      done += 1;
    } catch (error) {
      at("trouble").textContent = `The template was not edited from ${other.item} on: ${error.message}`;
      break;
    }
  }
  pending -= 1;
  at("saved").textContent = `saved, also in ${done} other ${done === 1 ? "case" : "cases"}`;
  count();
  if (cases[here].state && !typing()) { next(); }
}

function undo() {
  const last = decidedHere.at(-1);
  const place = last === undefined ? here : cases.findIndex((each) => each.id === last);
  show(place);
  save("undo");
}

// A decision is about the case in sight, also where the next one is slow to load.
const inSight = () => here >= 0 && root.dataset.shown === cases[here].id;

function press(action) {
  if (inSight() || !"ares".includes(action)) { actions[action](); } else { at("saved").textContent = "the next case is loading: press again"; }
}

async function turn() {
  inline = !inline;
  remember("inline", inline);
  document.querySelector("[data-key='d']").setAttribute("aria-pressed", String(inline));
  const { id } = cases[here];
  const found = await load(id);
  if (root.dataset.shown === id) { at("parts").replaceChildren(...found.parts.map(part)); }
}

const actions = {
  j: () => show(here + 1), k: () => show(here - 1), a: () => save("accept"), r: reject, e: edit, s: () => save("skip"), u: undo,
  d: turn, m: nextChange, "?": toggleHelp,
};
const actionOf = chooseKeys([["a", "accept"], ["r", "reject"], ["e", "edit"], ["s", "skip"], ["u", "undo"], ["j", "next"],
  ["k", "previous"], ["d", "inline or side by side"], ["m", "next edited text"], ["?", "show the keys"]]);
document.querySelector("[data-key='d']").setAttribute("aria-pressed", String(inline));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { if (typing()) { cancel(); } else { closeHelp(); } return; }
  if (event.ctrlKey && event.key === "Enter" && !at("editing").hidden) { event.preventDefault(); finishEdit(); return; }
  if (!isShortcut(event) || typing() || here < 0) { return; }
  const action = actionOf(event.key);
  if (action) { event.preventDefault(); press(action); }
});
for (const button of document.querySelectorAll("[data-key]")) { button.addEventListener("click", () => here >= 0 && press(button.dataset.key)); }
for (const button of document.querySelectorAll("[data-cancel]")) { button.addEventListener("click", cancel); }
at("rejecting").addEventListener("submit", (event) => {
  event.preventDefault();
  if (at("reason").value.trim()) { save("reject", { reason: at("reason").value }); }
});
at("editing").addEventListener("submit", (event) => { event.preventDefault(); finishEdit(); });
for (const [form, action] of [["rejecting", "reject"], ["editing", "edit"]]) { at(form).addEventListener("input", () => typed(action)); }
window.addEventListener("beforeunload", (event) => { if (pending || typing()) { event.preventDefault(); } });

// Cases arrive while a run makes them. What others decided shows, too; what this window is saving stays.
async function arrive() {
  if (document.hidden || pending) { return; } // the answer could be older than the decision that is being saved
  const before = saves;
  let found;
  // A server that hangs is as good as none: 2 s, and 1 s between two questions.
  try { found = await ask("/review/queue.json", { signal: AbortSignal.timeout(2000) }); } catch (error) {
    const left = cases.filter((each) => !each.state || each.state === "conflict" || each.state === "skip");
    if (cases.length && !left.length && !pending) {
      at("progress").textContent = "All cases are decided. The run goes on.";
    } else { // a server that was started again does not know this window
      at("connection").textContent = error.answered ? "Open the address that jrh review printed." : "Connection lost, retrying.";
    }
    return;
  }
  at("connection").textContent = "";
  if (saves !== before) { return; } // likewise: a decision was made meanwhile
  const known = new Map(found.cases.map((each) => [each.id, each.state]));
  for (const each of cases) { if (known.has(each.id)) { each.state = known.get(each.id); } }
  const listed = new Set(cases.map((each) => each.id));
  const fresh = found.cases.filter((each) => !listed.has(each.id));
  cases.push(...fresh);
  if (here < 0 && cases.length) { show(0); } else if (fresh.length && atEnd && !typing()) { next(); } else if (cases.length) { count(); }
}

ask("/review/queue.json").then((found) => {
  cases = found.cases;
  setInterval(arrive, 1000);
  if (!cases.length) { at("progress").textContent = "No case exists yet. Cases will appear here."; return; }
  const asked = cases.findIndex((each) => each.id === root.dataset.start);
  const first = cases.findIndex((each) => !each.state);
  show(Math.max(asked >= 0 ? asked : first, 0));
}).catch((error) => { at("trouble").textContent = error.message; });
