// What the pages Review and Label share. Texts are only ever set as text.

export const at = (id) => document.getElementById(id);

export function make(tag, text, ...children) {
  const node = document.createElement(tag);
  if (text) { node.textContent = text; }
  node.append(...children);
  return node;
}

// A page's way to the server: `command` is what starts it again, `act` what to do then.
export function asker(command, act) {
  return async (address, options = {}) => {
    let answer;
    try {
      answer = await fetch(address, options);
    } catch {
      throw new Error(`The server does not answer. Start \`${command}\` again, open its address, and ${act} again.`);
    }
    let found = null;
    try { found = await answer.json(); } catch { /* a refusal is a page */ }
    if (!answer.ok || !found) {
      const why = found && found.message ? found.message : `The server refused it (${answer.status}). Load the page again.`;
      throw Object.assign(new Error(why), { answered: true, text: found && found.text });
    }
    return found;
  };
}

// Screens that are loaded ahead: key -> promise of the screen. One that did not arrive is asked for again.
export function shelf(fetched) {
  const loaded = new Map();
  return {
    load(key) {
      if (!loaded.has(key)) {
        const found = fetched(key);
        found.catch(() => loaded.delete(key));
        loaded.set(key, found);
      }
      return loaded.get(key);
    },
    forget: (key) => loaded.delete(key),
  };
}

export const posted = (csrf, sent) => ({
  method: "POST", headers: { "content-type": "application/json", "x-csrf-token": csrf }, body: JSON.stringify(sent),
});

// How long one takes: the median of the last 20 in this window, before five of them what the server `knows`.
export function stopwatch() {
  const LAST = 20;
  const LONGEST = 3600; // seconds that count: a lunch is none of it
  const times = [];
  let since = 0;
  let sight = null;
  let known = null;
  document.addEventListener("visibilitychange", () => { since = performance.now(); });
  return {
    knows(seconds) { known = seconds; },
    begin(what) { if (sight !== what) { since = performance.now(); sight = what; } },
    seconds: () => (document.hidden ? null : Math.min((performance.now() - since) / 1000, LONGEST)),
    add(seconds) { if (seconds) { times.push(seconds); } },
    left(open) {
      const last = times.slice(-LAST).sort((a, b) => a - b);
      const pace = last.length > 4 ? last[Math.floor(last.length / 2)] : known;
      if (open === 0) { return "all done"; }
      return pace === null ? `${open} left` : `about ${Math.ceil((pace * open) / 60)} min left`;
    },
  };
}

export function toggleHelp() {
  const [help, button] = [at("help"), document.querySelector("[data-key='?']")];
  if (help.contains(document.activeElement)) { button.focus(); } // what is hidden cannot keep the focus
  help.hidden = !help.hidden;
  button.setAttribute("aria-expanded", String(!help.hidden));
}

export function closeHelp() {
  if (!at("help").hidden) { toggleHelp(); }
}

// A key that belongs to the page: not typed into a field, not one of the browser's.
export function isShortcut(event) {
  const inField = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
  return !inField && !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
}

// What this browser remembers for this address; a browser that keeps nothing forgets it with the page.
export function remember(name, value) {
  try { localStorage.setItem(`jrh-${name}`, JSON.stringify(value)); } catch { /* it is a convenience */ }
}

export function remembered(name) {
  try { return JSON.parse(localStorage.getItem(`jrh-${name}`)); } catch { return null; }
}
