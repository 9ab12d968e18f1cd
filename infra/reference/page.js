"use strict";

// The reference: openapi.json as a page, and calls with a key. The key is the value of a field and nowhere else.
// Everything is written as text, never as HTML.

const reference = document.getElementById("reference");
const welcome = [...reference.childNodes];
const address = new URL(reference.dataset.document, location.href);
const base = address.href.slice(0, -"/openapi.json".length);
for (const e of document.querySelectorAll(".base")) e.textContent = base;

const contract = fetch(address).then((response) => response.json());

// el makes an element: children are elements, or texts in which `…` is code.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) if (value != null) e.setAttribute(key, value);
  for (const child of children.flat()) {
    if (child instanceof Node) e.append(child);
    else if (child != null) String(child).split("`").forEach((part, i) => e.append(i % 2 ? el("code", { dir: "ltr" }, part) : part));
  }
  return e;
}

function json(value) {
  const pre = el("pre", { tabindex: "0", role: "group", "aria-label": "JSON" });
  pre.textContent = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return pre;
}

const resolve = (doc, x) => (x && x.$ref ? x.$ref.slice(2).split("/").reduce((at, name) => at[name], doc) : x);
const nameOf = (x) => (x && x.$ref ? x.$ref.split("/").pop() : "");

function typeOf(doc, given) {
  const s = resolve(doc, given) || {};
  if (s.type === "array") return "list of " + typeOf(doc, s.items);
  if (s.enum) return s.enum.filter((v) => v !== null).join(", ");
  const type = [s.type || (s.oneOf || s.anyOf || []).map((x) => typeOf(doc, x))].flat().join(" or ");
  return nameOf(given) || type || "any";
}

// bounds says what a schema requires of a value.
const bounds = (s) => ["format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default"]
  .filter((key) => s[key] !== undefined).map((key) => key + " " + JSON.stringify(s[key])).join(", ");

// fields shows the fields of a schema; those of nested ones when they are opened.
function fields(doc, given) {
  let s = resolve(doc, given) || {};
  if (s.type === "array" || (Array.isArray(s.type) && s.items)) s = resolve(doc, s.items);
  const parts = [s, ...(s.allOf || []), ...(s.oneOf || []), ...(s.anyOf || [])].map((x) => resolve(doc, x));
  const list = el("dl", {});
  for (const part of parts) {
    for (const [name, given] of Object.entries(part.properties || {})) {
      const field = resolve(doc, given);
      const required = (part.required || []).includes(name) ? ", required" : "";
      list.append(el("dt", {}, el("code", {}, name), " " + typeOf(doc, given) + required));
      const about = el("dd", {}, given.description || field.description, " ", el("small", {}, bounds(field)));
      const inner = resolve(doc, field.items || field);
      if (inner.properties || inner.oneOf || inner.allOf) about.append(opened("Fields of " + name, () => fields(doc, field)));
      list.append(about);
    }
  }
  return list;
}

function opened(title, content) {
  const box = el("details", {}, el("summary", {}, title));
  box.addEventListener("toggle", () => box.open && box.children.length === 1 && box.append(content()));
  return box;
}

function operation(doc, id) {
  for (const [path, methods] of Object.entries(doc.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      if (op.operationId === id) return { path, method: method.toUpperCase(), op };
    }
  }
}

// form shows the inputs of an operation and sends the request.
function form(doc, { path, method, op }) {
  const inputs = [];
  const all = el("div", {});
  for (const given of op.parameters || []) {
    const p = resolve(doc, given);
    if (p.in === "header" && p.name === "X-API-Key") continue;
    const id = "p-" + p.in + "-" + p.name;
    const input = el("input", { id, type: "text", autocomplete: "off", "aria-describedby": id + "-about", value: p.required && p.example !== undefined ? String(p.example) : null });
    inputs.push([p, input]);
    all.append(el("div", { class: "field" }, el("label", { for: id }, p.name + (p.required ? " (required)" : "")), input,
      el("p", { id: id + "-about" }, p.description || "", " ", el("small", {}, typeOf(doc, p.schema) + " " + bounds(resolve(doc, p.schema) || {}) + ", in " + p.in))));
  }
  const content = op.requestBody && resolve(doc, op.requestBody).content;
  const media = content && Object.keys(content)[0];
  const body = media && el("textarea", { id: "body", rows: "12", spellcheck: "false" });
  if (body) {
    body.value = JSON.stringify(content[media].example, null, 2) || "";
    all.append(el("div", { class: "field" }, el("label", { for: "body" }, "Body"), body, opened("Fields of the body", () => fields(doc, content[media].schema))));
  }
  const send = el("button", { type: "button", class: "primary" }, "Send API Request");
  const answer = el("div", { role: "status", "aria-live": "polite" });
  send.addEventListener("click", async () => {
    const key = document.getElementById("key").value.trim();
    const headers = key ? { "X-API-Key": key } : {};
    const query = new URLSearchParams();
    let at = path;
    for (const [p, input] of inputs) {
      if (p.in === "path") at = at.replace("{" + p.name + "}", encodeURIComponent(input.value));
      else if (input.value !== "" && p.in === "query") query.set(p.name, input.value);
      else if (input.value !== "") headers[p.name] = input.value;
    }
    if (body) headers["Content-Type"] = media;
    send.disabled = true;
    try {
      const response = await fetch(base + at + (query.size ? "?" + query : ""), { method, headers, body: body && body.value, credentials: "omit", cache: "no-store" });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
      answer.replaceChildren(el("p", {}, el("strong", {}, "Status " + response.status), " " + (response.headers.get("X-RateLimit-Cost") || "0") + " units charged"), json(shown));
    } catch {
      answer.replaceChildren(el("p", {}, "The service cannot be reached. Try again."));
    }
    send.disabled = false;
  });
  return [el("h3", {}, "Try it"), all, send, answer];
}

function showOperation(doc, found) {
  const { path, method, op } = found;
  const responses = Object.entries(op.responses).map(([status, given]) => {
    const response = resolve(doc, given);
    const parts = Object.entries(response.content || {}).map(([media, c]) => {
      const example = c.example !== undefined ? c.example : Object.values(c.examples || {}).map((e) => resolve(doc, e).value)[0];
      return [el("p", {}, media), example === undefined ? null : opened("Example", () => json(example)), c.schema ? opened("Fields", () => fields(doc, c.schema)) : null];
    });
    return [el("h4", {}, status + " " + response.description), ...parts.flat()];
  });
  reference.replaceChildren(el("h2", {}, op.summary), el("p", { class: "call" }, el("strong", {}, method), " ", el("code", {}, path)),
    ...(op.description || "").split("\n\n").map((text) => el("p", {}, text)), ...form(doc, found), el("h3", {}, "Responses"), ...responses.flat());
}

// show shows what the address names: a guide or something in it, an operation, or the welcome.
async function show(event) {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name && document.getElementById(name);
  const guide = target && target.closest("article");
  for (const article of document.querySelectorAll("article")) article.hidden = article !== guide;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === (guide ? "#" + guide.id : location.hash)) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  reference.hidden = Boolean(guide);
  if (guide) {
    document.title = guide.getAttribute("aria-label") + ": Skills Curriculum Service";
    (target === guide ? document.getElementById("main") : target).scrollIntoView();
    if (event) guide.focus({ preventScroll: true });
    return;
  }
  if (name === "reference") return reference.focus();
  const id = name.startsWith("/operations/") ? name.slice("/operations/".length) : "";
  if (!id) {
    reference.replaceChildren(...welcome);
  } else {
    const doc = await contract.catch(() => null);
    if (decodeURIComponent(location.hash.slice(1)) !== name) return; // another was chosen meanwhile
    const found = doc && operation(doc, id);
    if (found) showOperation(doc, found);
    else reference.replaceChildren(el("p", {}, doc ? "There is no such operation." : "The description of the service cannot be read. Reload the page."));
  }
  const heading = reference.querySelector("h2");
  document.title = (heading ? heading.textContent : "Reference") + ": Skills Curriculum Service";
  if (event) {
    scrollTo(0, 0);
    reference.focus({ preventScroll: true });
  }
}

addEventListener("hashchange", show);
show();
