// The documentation's search. It looks for words in an index file next to this script, and uses no other service.
(() => {
  const here = document.currentScript.src;
  const box = document.getElementById("search-box");
  const input = document.getElementById("search-words");
  const found = document.getElementById("search-found");
  const shownMax = 12;
  let index = null;
  let chosen = -1;

  // The index is fetched once, on first use. After a failure, the next search fetches it again.
  async function readIndex() {
    index ??= fetch(new URL("search.json", here)).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)));
    index.catch(() => (index = null));
    return index;
  }

  // A match in a heading or a page title counts more than a match in the text.
  function weigh(entry, pattern) {
    return (pattern.test(entry.heading) ? 6 : 0) + (pattern.test(entry.page) ? 3 : 0) + (pattern.test(entry.text) ? 1 : 0);
  }

  // Each search word must be the beginning of a word in the entry.
  function rank(entries, words) {
    const escaped = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    const patterns = escaped.map((word) => new RegExp(`(^|[^\\p{L}\\p{N}])${word}`, "iu"));
    return entries
      .map((entry) => ({ entry, weights: patterns.map((pattern) => weigh(entry, pattern)) }))
      .filter(({ weights }) => weights.every((weight) => weight > 0))
      .map(({ entry, weights }) => ({ entry, weight: weights.reduce((sum, each) => sum + each, 0) }))
      .toSorted((a, b) => b.weight - a.weight || a.entry.heading.length - b.entry.heading.length)
      .slice(0, shownMax)
      .map(({ entry }) => entry);
  }

  // Cuts the text between words.
  function excerpt({ text }, [word = ""]) {
    const found = Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()));
    const from = found <= 40 ? 0 : text.indexOf(" ", found - 40) + 1;
    const end = from + 120 >= text.length ? text.length : text.lastIndexOf(" ", from + 120);
    return `${from > 0 ? "…" : ""}${text.slice(from, Math.max(end, found + word.length))}${end < text.length ? "…" : ""}`;
  }

  function item(entry, words, number) {
    const line = document.createElement("li");
    line.id = `search-found-${number}`;
    line.role = "option";
    line.ariaSelected = "false";
    line.dataset.href = new URL(entry.href, here).href;
    const about = document.createElement("small");
    about.textContent = excerpt(entry, words);
    line.append(entry.heading === entry.page ? entry.page : `${entry.page}: ${entry.heading}`, about);
    return line;
  }

  function close() {
    found.hidden = true;
    input.ariaExpanded = "false";
    choose(-1);
  }

  function choose(number) {
    chosen = number;
    for (const [at, line] of [...found.children].entries()) line.ariaSelected = String(at === number);
    const line = found.children[number];
    if (!line) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", line.id);
    line.scrollIntoView({ block: "nearest" });
  }

  function note(words) {
    const line = document.createElement("li");
    line.textContent = words;
    return line;
  }

  async function search() {
    const words = input.value.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return close();
    const entries = await readIndex().catch(() => null);
    // The user has typed more in the meantime. A later call shows those results.
    if (words.join(" ") !== input.value.trim().replaceAll(/\s+/g, " ")) return;
    const lines = rank(entries ?? [], words).map((entry, number) => item(entry, words, number));
    const instead = entries === null ? "The search index could not be loaded. Keep typing to try again." : "Nothing found.";
    found.replaceChildren(...(lines.length > 0 ? lines : [note(instead)]));
    found.hidden = false;
    input.ariaExpanded = "true";
    choose(lines.length > 0 ? 0 : -1);
  }

  function go(line) {
    if (!line?.dataset.href) return;
    close();
    location.assign(line.dataset.href);
  }

  function onKey(event) {
    const count = found.hidden ? 0 : found.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (event.key === "Enter") go(found.children[chosen]);
    else if (step !== undefined && count > 0) choose((chosen + step + count) % count);
    else return;
    event.preventDefault();
  }

  // Operations in the reference are collapsed. A link to one opens it.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", onKey);
  input.addEventListener("blur", close);
  // Act on mousedown, because the click comes after the field loses focus, which closes the list.
  found.addEventListener("mousedown", (event) => {
    event.preventDefault();
    go(event.target.closest("li"));
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  globalThis.addEventListener("hashchange", unfold);
  unfold();
  box.hidden = false;
})();
