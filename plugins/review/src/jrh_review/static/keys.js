// The keys of the page Review: each action has one, and people may choose another. Two actions never share a key.

import { at, make, remember, remembered } from "./shared.js";

const STORE = "review-keys";

// Returns action -> key with what was chosen, or a sentence that says why it cannot be.
export function bind(actions, chosen) {
  const keys = new Map(actions.map(([action]) => [action, action]));
  for (const [action, key] of Object.entries(chosen || {})) {
    if (!keys.has(action) || typeof key !== "string" || [...key].length !== 1 || key.trim() === "") {
      return "A key is one character, and no space.";
    }
    keys.set(action, key);
  }
  const taken = new Map();
  for (const [action, key] of keys) {
    if (taken.has(key)) {
      const name = (which) => actions.find(([each]) => each === which)[1];
      return `The key ${key} cannot be both "${name(taken.get(key))}" and "${name(action)}". Nothing was changed.`;
    }
    taken.set(key, action);
  }
  return keys;
}

// Reads what was chosen, shows it on buttons and in the help, and lets people change it.
export function chooseKeys(actions) {
  let keys = bind(actions, remembered(STORE));
  if (typeof keys === "string") { keys = bind(actions, {}); }
  const show = () => {
    for (const node of document.querySelectorAll("kbd[data-of-key]")) { node.textContent = keys.get(node.dataset.ofKey); }
    for (const field of at("keys").querySelectorAll("input")) { field.value = keys.get(field.name); }
  };
  const use = (chosen) => {
    const found = bind(actions, chosen);
    if (typeof found === "string") { at("keys-said").textContent = found; return; }
    keys = found;
    remember(STORE, Object.fromEntries(keys));
    at("keys-said").textContent = "The keys are changed.";
    show();
  };
  at("key-fields").replaceChildren(...actions.map(([action, name]) => {
    const field = make("input");
    field.name = action;
    field.maxLength = 2; // one character may be two units of UTF-16
    field.autocomplete = "off";
    return make("label", name, field);
  }));
  at("keys").addEventListener("submit", (event) => {
    event.preventDefault();
    use(Object.fromEntries([...at("keys").querySelectorAll("input")].map((field) => [field.name, field.value])));
  });
  at("keys").addEventListener("reset", (event) => { event.preventDefault(); use({}); });
  show();
  return (key) => [...keys].find(([, each]) => each === key)?.[0];
}
