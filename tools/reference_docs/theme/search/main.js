// Search of the site. It replaces MkDocs' script, which loads its index by a request from a worker: browsers forbid
// both on pages that were opened as files. This one loads the index as a script, search/search_index.js.
"use strict";

(function () {
  const RESULTS = 50, AROUND = 90;
  const input = document.getElementById("mkdocs-search-query");
  const results = document.getElementById("mkdocs-search-results");
  if (!input || !results) return; // Other pages only have boxes that lead here.

  function load(name) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${base_url}/search/${name}`;
      script.onload = done;
      script.onerror = () => failed(new Error(`cannot load ${script.src}`));
      document.head.append(script);
    });
  }

  function element(name, ...content) {
    const made = document.createElement(name);
    made.append(...content);
    return made;
  }

  // Return the text around the first of the words, with all of them marked.
  function excerpt(text, words) {
    const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi");
    const found = Math.max(text.search(pattern), 0);
    const begin = Math.max(found - AROUND, 0), end = found + 2 * AROUND;
    const shown = element("p", begin ? "... " : "");
    let last = begin;
    const part = text.slice(0, end);
    for (const match of part.slice(begin).matchAll(pattern)) {
      const at = begin + match.index;
      shown.append(part.slice(last, at), element("mark", match[0]));
      last = at + match[0].length;
    }
    shown.append(part.slice(last), end < text.length ? " ..." : "");
    return shown;
  }

  function show(index, pages) {
    const words = input.value.trim().toLowerCase().split(lunr.tokenizer.separator).filter(Boolean);
    // No query language: a name such as board.yaml:nor is no field, and nothing that is typed is an error. All words
    // must occur, in any form.
    const found = !words.length ? [] : index.query((query) => {
      for (const word of words) {
        query.term(lunr.tokenizer(word), { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
        query.term(lunr.tokenizer(word), { boost: 10 });
      }
    });
    const stems = words.map((word) => String(lunr.stemmer(new lunr.Token(word))));
    const all = found.filter((each) => stems.every((stem) => pages.get(each.ref).all.includes(stem)));
    // Pages with the words side by side come first, such as the row of an error's id.
    const phrase = input.value.trim();
    const has = (each) => pages.get(each.ref).all.includes(phrase.toLowerCase());
    all.sort((one, two) => has(two) - has(one));
    results.replaceChildren();
    for (const each of all.slice(0, RESULTS)) {
      const page = pages.get(each.ref);
      const link = element("a", page.title);
      link.href = `${base_url}/${page.location}`;
      if (/^errors\.html/.test(page.location) && /^N6-[A-Z]+-[0-9]+$/i.test(phrase)) {
        link.href = `${base_url}/errors.html#${phrase.toUpperCase()}`;
      }
      results.append(element("article", element("h3", link), excerpt(page.text, words)));
    }
    const said = all.length > RESULTS ? `The first ${RESULTS} of ${all.length} results.` : `${all.length} results.`;
    if (words.length) results.prepend(element("p", said));
  }

  async function start() {
    await load("lunr.js");
    await load("search_index.js");
    const pages = new Map();
    const index = lunr(function () {
      this.field("title", { boost: 5 });
      this.field("text");
      this.ref("location");
      for (const page of n6build_search.docs) {
        page.text = page.text.replaceAll(" \u00b6", "."); // Of a heading's link to itself.
        page.all = `${page.title} ${page.text}`.toLowerCase();
        pages.set(page.location, page);
        this.add(page);
      }
    });
    input.addEventListener("input", () => show(index, pages));
    input.value = new URLSearchParams(location.search).get("q") || "";
    show(index, pages);
  }

  start().catch((error) => results.replaceChildren(element("p", `The search does not work: ${error.message}`)));
})();
