// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a page of the console up to date, asks before acts that lose something, and copies command lines. The page does
// without it.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const body = document.body;
  const scene = byId("scene");

  // MARK: What is said

  let silence;
  const say = (text, mood) => {
    const box = byId("say");
    if (!box) return;
    box.textContent = text;
    box.className = "toast" + (mood ? " t-" + mood : "") + (text ? " shown" : "");
    clearTimeout(silence);
    silence = setTimeout(() => box.classList.remove("shown"), 8000);
  };

  // MARK: Changes

  const parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content;
  };
  const rows = (component) => byId("c" + component)?.querySelector("[data-rows]");
  const focusable = "a[href], button, input, select, textarea, [tabindex]";

  // Changes a part of the page; what had the focus in it has it again, and a form that somebody has written in stays as it is.
  const change = (element, content, put) => {
    const active = element.contains(document.activeElement) ? document.activeElement : null;
    const place = active && active !== element ? [...element.querySelectorAll(focusable)].indexOf(active) : -1;
    for (const form of element.querySelectorAll("form[data-touched]")) {
      content.getElementById(form.id)?.replaceWith(form);
    }
    const isKept = content.contains(active);
    const after = put(content);
    if (isKept) active.focus({ preventScroll: true });
    else if (place >= 0) after.querySelectorAll(focusable)[place]?.focus({ preventScroll: true });
  };
  const replace = (element, content) => {
    if (!element) return;
    change(element, content, (content) => {
      const after = content.firstElementChild;
      element.replaceWith(content);
      return after;
    });
  };
  // Replaces of a row what is another: a browser draws a cell faster than a row, and a row faster than a table.
  const replaceRow = (row, content) => {
    const next = content.firstElementChild;
    if (row?.localName !== "tr" || row.children.length !== next.children.length) return replace(row, content);
    row.className = next.className;
    for (const cell of [...row.children]) {
      const fragment = document.createDocumentFragment();
      fragment.append(next.firstElementChild);
      if (!cell.isEqualNode(fragment.firstElementChild)) replace(cell, fragment);
    }
  };

  const operations = {
    replace: (id, html) => replace(byId(id), parse(html)),
    fill: (id, html) => {
      const element = byId(id);
      if (!element) return;
      change(element, parse(html), (content) => { element.replaceChildren(content); return element; });
    },
    text: (id, text) => { const element = byId(id); if (element) element.textContent = text; },
    columns: (component, hidden) => byId("c" + component)?.querySelector("table")?.setAttribute("class", hidden),
    remove: (component, row, count) => {
      const list = rows(component);
      for (let left = count; left > 0; left--) list?.children[row]?.remove();
    },
    insert: (component, row, html) => {
      const list = rows(component);
      const isAtEnd = list && list.getAttribute("role") === "log" && row === list.children.length;
      list?.insertBefore(parse(html), list.children[row] ?? null);
      if (isAtEnd) list.scrollTop = list.scrollHeight;
    },
    say: (text, state) => say(text, state === "open" ? "good" : state === "failed" ? "bad" : "warning"),
  };

  const rowOperations = {
    row: (row, html) => replaceRow(row, parse(html)),
    cell: (row, cell, html) => replace(row.children[cell], parse(html)),
  };

  // Changes are drawn once a frame. Rows out of sight wait for up to two seconds, or until they come into sight: most of what a
  // browser does for a change is not over with its operation, and grows with the rows that are others.
  const waiting = [];
  const late = new Map();
  let [drawing, resting] = [false, undefined];
  const isNear = (row) => {
    const box = row.getBoundingClientRect();
    return box.bottom > -innerHeight / 2 && box.top < innerHeight * 1.5;
  };
  const drawRows = (list) => {
    for (const row of list) {
      const changes = late.get(row);
      late.delete(row);
      if (row.isConnected) for (const [name, ...values] of changes) rowOperations[name](row, ...values);
    }
    if (late.size > 0 && !resting) {
      resting = setTimeout(() => { resting = undefined; drawRows([...late.keys()].slice(0, 12)); }, 250);
    }
  };
  const draw = () => {
    drawing = false;
    for (const [name, ...values] of waiting.splice(0)) {
      if (!(name in rowOperations)) {
        operations[name]?.(...values);
        continue;
      }
      const [component, index, ...rest] = values;
      const row = rows(component)?.children[index];
      if (!row) continue;
      // A row that is another, or another text of the same cell, makes an earlier one pointless.
      const earlier = name === "row" ? [] : late.get(row) ?? [];
      late.set(row, [...earlier.filter(([other, cell]) => other === "row" || cell !== rest[0]), [name, ...rest]]);
    }
    // Looked at together, before the first is drawn: the page is laid out once.
    drawRows([...late.keys()].filter(isNear));
  };
  const soon = () => {
    if (!drawing) requestAnimationFrame(draw);
    drawing = true;
  };
  addEventListener("scroll", () => { if (late.size > 0) soon(); }, { capture: true, passive: true });
  addEventListener("beforeprint", () => drawRows([...late.keys()]));

  // MARK: The stream

  let source;
  let version = body.dataset.version;
  const live = byId("live");
  const show = (state) => {
    if (!live) return;
    live.hidden = false;
    live.textContent = state;
    live.dataset.state = state;
  };
  const follow = () => {
    if (!body.dataset.live || source) return;
    const query = "at=" + encodeURIComponent(body.dataset.live) + "&version=" + encodeURIComponent(version);
    source = new EventSource("/-/live?" + query);
    source.onopen = () => show("live");
    source.onerror = () => show("lost");
    source.onmessage = (event) => {
      version = event.lastEventId;
      show("live");
      waiting.push(...JSON.parse(event.data));
      soon();
      if (waiting.length > limit) startOver();
    };
  };
  const rest = () => { source?.close(); source = undefined; };
  // A browser that draws no frame for long gets the whole page as it is now, instead of ever more of them.
  const limit = 2000;
  const startOver = () => {
    rest();
    waiting.length = 0;
    version = "";
    follow();
  };
  // A tab that nobody sees leaves its connection to those that somebody does.
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : follow()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", follow);
  if (!document.hidden) follow();

  // MARK: Acts

  const dialog = document.createElement("dialog");
  const ask = (question, verb) => new Promise((resolve) => {
    dialog.replaceChildren();
    const text = document.createElement("p");
    text.id = "question";
    text.textContent = question;
    const form = document.createElement("form");
    form.method = "dialog";
    const no = document.createElement("button");
    no.value = "no";
    no.textContent = "No, go back";
    const yes = document.createElement("button");
    yes.value = "yes";
    yes.className = "danger";
    yes.textContent = "Yes, " + verb;
    form.append(no, yes);
    dialog.append(text, form);
    dialog.setAttribute("aria-labelledby", "question");
    dialog.returnValue = "no";
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    if (!dialog.isConnected) body.append(dialog);
    dialog.showModal();
    no.focus();
  });

  // Marks the fields of a form that are wrong, and leads to the first of them.
  const mark = (form, faults) => {
    for (const field of form.elements) {
      const box = field.id && form.querySelector(`[data-fault="${CSS.escape(field.id)}"]`);
      if (!box) continue;
      const fault = faults[field.name.slice(2)];
      box.textContent = fault ?? "";
      if (fault) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
    form.querySelector("[aria-invalid]")?.focus();
  };
  const post = async (form, fields, button) => {
    const response = await fetch(form.getAttribute("action"), {
      method: "POST", body: fields, headers: { Accept: "text/plain" },
    });
    const text = await response.text();
    const isText = response.headers.get("content-type")?.startsWith("text/plain");
    const answer = isText ? {} : JSON.parse(text);
    if (answer.question && !fields.has("sure")) {
      if (!(await ask(answer.question, button?.textContent ?? "go on"))) return say("nothing was done");
      fields.set("sure", "yes");
      return post(form, fields, button);
    }
    mark(form, answer.fields ?? {});
    const sentence = isText ? text : answer.errors?.[0]?.message ?? "the host refuses";
    say(sentence, response.ok && !/ failed: /.test(sentence) ? "good" : "bad");
  };
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post" || !["/-/act", "/-/call"].includes(form.getAttribute("action"))) return;
    event.preventDefault();
    const button = event.submitter;
    const fields = new URLSearchParams(new FormData(form));
    if (button?.name) fields.append(button.name, button.value);
    button?.setAttribute("aria-busy", "true");
    say((button?.getAttribute("aria-label") || button?.textContent || "working") + " …");
    try {
      await post(form, fields, button);
    } catch {
      say("the host does not answer", "bad");
    } finally {
      button?.removeAttribute("aria-busy");
      if (document.activeElement === body) button?.focus();
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.form?.method === "post") event.target.form.dataset.touched = "";
  });

  // MARK: Command lines

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
      say("copied");
    });
  }

  // The newest lines are at the end.
  for (const log of document.querySelectorAll("[role=log]")) log.scrollTop = log.scrollHeight;
  // A search that is emptied shows everything again.
  byId("q")?.addEventListener("search", (event) => { if (!event.target.value) event.target.form.submit(); });
  if (scene) document.documentElement.dataset.script = "";
})();
