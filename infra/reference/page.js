"use strict";

// The viewer remembers an API key in the browser's storage. Here that is memory, which
// ends with the page.
for (const name of ["localStorage", "sessionStorage"]) {
  const items = new Map();
  Object.defineProperty(window, name, {
    value: {
      getItem: (key) => items.get(String(key)) ?? null,
      setItem: (key, value) => void items.set(String(key), String(value)),
      removeItem: (key) => void items.delete(String(key)),
      clear: () => items.clear(),
      key: (n) => [...items.keys()][n] ?? null,
      get length() { return items.size; },
    },
  });
}

const reference = document.getElementById("reference");

// The service's address in the document is a path; the viewer wants it whole.
const described = fetch(reference.dataset.document).then(async (response) => {
  const contract = await response.json();
  for (const server of contract.servers) server.url = new URL(server.url, location.href).href;
  return contract;
});

const viewer = Promise.all([described, customElements.whenDefined("elements-api")]).then(([contract]) => {
  const element = document.createElement("elements-api");
  element.setAttribute("router", "hash");
  element.setAttribute("layout", "responsive");
  element.setAttribute("tryItCredentialsPolicy", "omit");
  element.apiDescriptionDocument = JSON.stringify(contract);
  return element;
});

// show shows the guide that the address names, by its id or that of something in it, or
// else the reference.
async function show() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const guide = target && target.closest("article");
  for (const article of document.querySelectorAll("article")) article.hidden = article !== guide;
  for (const a of document.querySelectorAll("nav a")) {
    const current = a.hash === (guide ? "#" + guide.id : "#/");
    if (current) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  reference.hidden = Boolean(guide);
  if (guide) {
    reference.replaceChildren(); // it would take the address for its own
    target.scrollIntoView();
  } else {
    const element = await viewer;
    if (!reference.hidden && !reference.contains(element)) reference.replaceChildren(element);
  }
}

addEventListener("hashchange", show);
show();
