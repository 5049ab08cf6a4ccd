// A quote in a rationale leads to its place in the texts. Without this the page shows the same.

const MOST = 100; // quotes of a page that are looked up
const QUOTED = /[“„"«]([^“”„"«»]{6,400})[”“"»]/g;
const own = [...document.querySelectorAll("main pre")].filter((pre) => !pre.closest("#verdicts"));
const isOriginal = (pre) => pre.matches(".sides > :first-child pre");
const texts = [...own.filter((pre) => !isOriginal(pre)), ...own.filter(isOriginal)];
let left = MOST;

// White space may differ, a sentence may end inside the quotes, and "a ... b" is looked up by its longer part.
function pattern(quote) {
  const longest = quote.split(/\.\.\.|…/).map((each) => each.trim()).sort((one, other) => other.length - one.length)[0];
  const words = longest.replace(/[.,;:!?]+$/, "").split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return words.join("").length < 6 ? null : new RegExp(words.join("\\s+"), "i");
}

function find(quote) {
  const wanted = pattern(quote);
  if (!wanted) { return null; }
  for (const pre of texts) {
    const found = wanted.exec(pre.textContent);
    if (found) { return { pre, start: found.index, end: found.index + found[0].length }; }
  }
  return null;
}

function rangeOf({ pre, start, end }) {
  const range = document.createRange();
  const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  let before = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const { length } = node.data;
    if (start >= before && start < before + length) { range.setStart(node, start - before); }
    if (end > before && end <= before + length) { range.setEnd(node, end - before); return range; }
    before += length;
  }
  return range;
}

function jump(place) {
  for (let each = place.pre; each; each = each.parentElement) { if (each.tagName === "DETAILS") { each.open = true; } }
  const range = rangeOf(place);
  place.pre.tabIndex = -1;
  place.pre.focus({ preventScroll: true });
  getSelection().removeAllRanges();
  getSelection().addRange(range); // the browser's own mark: it needs no style and ends with the next click
  window.scrollBy(0, range.getBoundingClientRect().top - window.innerHeight / 3);
}

function link(node) {
  const pieces = [];
  let end = 0;
  for (const match of node.data.matchAll(QUOTED)) {
    const place = left-- > 0 ? find(match[1]) : null;
    if (!place) { continue; }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quote";
    button.textContent = match[1];
    button.title = "Show it in the text";
    button.addEventListener("click", () => jump(place));
    pieces.push(node.data.slice(end, match.index + 1), button);
    end = match.index + 1 + match[1].length;
  }
  if (pieces.length) { node.replaceWith(...pieces, node.data.slice(end)); }
}

for (const cell of document.querySelectorAll("#verdicts td.prose")) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) { nodes.push(walker.currentNode); }
  for (const node of nodes) { if (!node.parentElement.closest("summary")) { link(node); } }
}
