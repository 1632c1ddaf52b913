// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a page of the console up to date, asks before acts that lose data, and copies command lines. The page also works
// without it.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const body = document.body;
  const scene = byId("scene");

  // MARK: Messages

  let hiding;
  const notify = (text, severity) => {
    const box = byId("toast");
    if (!box) return;
    box.textContent = text;
    box.className = "toast" + (severity ? " t-" + severity : "") + (text ? " shown" : "");
    clearTimeout(hiding);
    hiding = setTimeout(() => box.classList.remove("shown"), 8000);
  };

  // MARK: Changes

  const parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content;
  };
  const rows = (component) => byId("c" + component)?.querySelector("[data-rows]");
  const focusable = "a[href], button, input, select, textarea, [tabindex]";

  // What an element is, whatever its place: two with the same identity do the same.
  const identity = (element) => JSON.stringify([
    element.localName, element.id, element.name, element.localName === "button" ? element.value : "",
    element.getAttribute("href"), element.getAttribute("role"),
  ]);
  const placeOf = (element) => ({
    element, known: identity(element), around: element.parentElement?.closest("[id]")?.id ?? "main",
  });
  // Moves the focus back to a place: to the element that does the same there or, if there is none, to a region around it, where
  // Enter does nothing. It never moves to a button that does something else.
  const focusOn = ({ element, known, around }) => {
    const part = byId(around) ?? byId("main");
    const isSame = (other) => identity(other) === known;
    const same = element.isConnected ? element : [...(part?.querySelectorAll(focusable) ?? [])].find(isSame);
    const region = "[role=region][tabindex]";
    (same ?? part?.querySelector(region) ?? part?.closest(region) ?? byId("main"))?.focus({ preventScroll: true });
  };
  // Runs a change. The focus stays where it is, and a log at its end or where its reader has scrolled it.
  const keepingPlace = (change) => {
    const focus = placeOf(document.activeElement ?? body);
    const logs = new Map();
    for (const log of document.querySelectorAll("[role=log]")) {
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 4;
      logs.set(log.getAttribute("aria-label"), { log, top: isAtEnd ? undefined : log.scrollTop });
    }
    change();
    if (focus.element !== body && document.activeElement === body) focusOn(focus);
    for (const log of document.querySelectorAll("[role=log]")) {
      const before = logs.get(log.getAttribute("aria-label"));
      if (before?.top === undefined) log.scrollTop = log.scrollHeight;
      // The browser itself keeps the lines in sight of a log that is not a new element.
      else if (before.log !== log) log.scrollTop = before.top;
    }
  };
  // The fields that a form has, without their values.
  const fieldsOf = (form) => JSON.stringify([...form.elements].map((field) => [
    field.localName, field.name, field.getAttribute("aria-required"), field.inputMode,
    [...(field.options ?? [])].map((option) => option.value),
  ]));
  // Keeps the forms that the user has begun to fill in: as they are, or what was entered into the fields that are still there.
  const keepForms = (element, content) => {
    for (const form of element.querySelectorAll("form[data-touched]")) {
      const next = content.getElementById(form.id);
      if (!next) continue;
      if (fieldsOf(form) === fieldsOf(next)) {
        next.replaceWith(form);
        continue;
      }
      for (const field of form.elements) {
        const same = field.name.startsWith("f.") && next.elements.namedItem(field.name);
        if (same) same.value = field.value;
      }
      next.dataset.touched = "";
      notify("the form has changed: check what you have entered", "warning");
    }
  };
  const replace = (element, content) => {
    if (!element) return;
    keepForms(element, content);
    element.replaceWith(content);
  };
  // Replaces only the cells of a row that differ: a cell renders faster than a row, and a row faster than a table.
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
      const content = parse(html);
      keepForms(element, content);
      element.replaceChildren(content);
    },
    text: (id, text) => { const element = byId(id); if (element) element.textContent = text; },
    title: (text) => {
      document.querySelector("h1").textContent = text;
      document.title = text + " · " + document.querySelector(".brand span").textContent;
    },
    show: (id) => { const element = byId(id); if (element) element.hidden = false; },
    name: (component, title) => {
      const section = byId("c" + component);
      for (const heading of section?.querySelectorAll("h2, caption") ?? []) heading.textContent = title;
      section?.querySelector("[role=region]")?.setAttribute("aria-label", title + ", table");
    },
    columns: (component, hidden) => byId("c" + component)?.querySelector("table")?.setAttribute("class", hidden),
    remove: (component, row, count) => {
      const list = rows(component);
      for (let left = count; left > 0; left--) list?.children[row]?.remove();
    },
    insert: (component, row, html) => {
      const list = rows(component);
      list?.insertBefore(parse(html), list.children[row] ?? null);
    },
    notify: (text, state) => notify(text, state === "open" ? "good" : state === "failed" ? "bad" : "warning"),
  };

  const rowOperations = {
    row: (row, html) => replaceRow(row, parse(html)),
    cell: (row, cell, html) => replace(row.children[cell], parse(html)),
  };

  // Changes are rendered once a frame. Rows far outside the viewport are deferred until they scroll near it, or drawn a dozen at a
  // time every 250 ms: most of the cost of a change is the layout that follows it, which grows with the number of changed rows.
  const pending = [];
  const deferred = new Map();
  let [isScheduled, deferTimer] = [false, undefined];
  const isNear = (row) => {
    const box = row.getBoundingClientRect();
    return box.bottom > -innerHeight / 2 && box.top < innerHeight * 1.5;
  };
  const drawRows = (list) => {
    for (const row of list) {
      const changes = deferred.get(row);
      deferred.delete(row);
      if (row.isConnected) for (const [name, ...values] of changes) rowOperations[name](row, ...values);
    }
    if (deferred.size > 0 && !deferTimer) {
      deferTimer = setTimeout(() => {
        deferTimer = undefined;
        keepingPlace(() => drawRows([...deferred.keys()].slice(0, 12)));
      }, 250);
    }
  };
  const draw = () => {
    isScheduled = false;
    for (const [name, ...values] of pending.splice(0)) {
      if (!(name in rowOperations)) {
        operations[name]?.(...values);
        continue;
      }
      const [component, index, ...rest] = values;
      const row = rows(component)?.children[index];
      if (!row) continue;
      // A new row supersedes all earlier changes of the row, and a new cell those of the same cell.
      const earlier = name === "row" ? [] : deferred.get(row) ?? [];
      deferred.set(row, [...earlier.filter(([other, cell]) => other === "row" || cell !== rest[0]), [name, ...rest]]);
    }
    // All positions are read before the first row is drawn, so that the page is laid out only once.
    drawRows([...deferred.keys()].filter(isNear));
  };
  const schedule = () => {
    if (!isScheduled) requestAnimationFrame(() => keepingPlace(draw));
    isScheduled = true;
  };
  addEventListener("scroll", () => { if (deferred.size > 0) schedule(); }, { capture: true, passive: true });
  addEventListener("beforeprint", () => keepingPlace(() => drawRows([...deferred.keys()])));

  // MARK: The stream

  let source;
  let version = body.dataset.version;
  const live = byId("live");
  // A screen reader reads the text out whenever it is set, so it is set only if it changes.
  const show = (state, text = state) => {
    if (!live || (live.dataset.state === state && live.textContent === text)) return;
    live.hidden = false;
    live.textContent = text;
    live.dataset.state = state;
  };
  // When the host last answered.
  let heard = new Date();
  const lose = () => show("lost", "no answer since " + heard.toISOString());
  // A host that hangs, or a network that drops everything, breaks no connection: it is only silent. The stream brings an event at
  // least every five seconds, so silence for three times as long is no answer.
  const patience = 15000;
  let silence;
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      lose();
      disconnect();
      follow();
    }, patience);
  };
  const hear = () => {
    heard = new Date();
    show("live");
    listen();
  };
  // Why the host refuses the stream, which an EventSource does not tell; undefined if it no longer does, or does not answer.
  const refusal = async (url) => {
    try {
      const answer = await fetch(url, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(patience) });
      if (!answer.ok) return { status: answer.status, sentence: (await answer.json()).errors[0].message };
      answer.body.cancel();
    } catch {
      // It does not answer, or something in between does.
    }
    return undefined;
  };
  const follow = () => {
    if (!body.dataset.live || source || document.hidden) return;
    const query = "at=" + encodeURIComponent(body.dataset.live) + "&version=" + encodeURIComponent(version);
    const url = "/-/live?" + query;
    source = new EventSource(url);
    listen();
    source.onopen = hear;
    source.addEventListener("alive", hear);
    source.onerror = async () => {
      // A browser reconnects after a broken connection, but not after a status other than 200.
      if (source?.readyState !== EventSource.CLOSED) return lose();
      disconnect();
      const refused = await refusal(url);
      if (source) return;
      if (refused) {
        heard = new Date();
        show("lost", refused.sentence);
      } else lose();
      // Only a new login admits a page whose session has ended.
      if (refused?.status !== 401) setTimeout(follow, 5000);
    };
    source.onmessage = (event) => {
      version = event.lastEventId;
      hear();
      pending.push(...JSON.parse(event.data));
      schedule();
      if (pending.length > limit) restart();
    };
  };
  const disconnect = () => {
    clearTimeout(silence);
    source?.close();
    source = undefined;
  };
  // A browser that has not rendered a frame for a long time fetches the whole page instead of queueing more changes.
  const limit = 2000;
  const restart = () => {
    disconnect();
    pending.length = 0;
    version = "";
    follow();
  };
  // A hidden tab closes its connection, to leave room for visible ones.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : follow()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", follow);
  follow();

  // MARK: Actions

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
  // There is one dialog, so a question waits until those before it are answered.
  let asked = Promise.resolve();
  const confirm = (question, verb) => {
    const answer = asked.then(() => ask(question, verb));
    asked = answer.catch(() => {});
    return answer;
  };

  // Marks the invalid fields of a form and moves the focus to the first one.
  const markFaults = (form, faults) => {
    for (const field of form.elements) {
      const box = field.id && form.querySelector(`[data-fault="${CSS.escape(field.id)}"]`);
      if (!box) continue;
      const name = field.name.slice(2);
      const fault = Object.hasOwn(faults, name) ? faults[name] : undefined;
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
    const next = response.headers.get("content-location");
    const answer = isText ? {} : JSON.parse(text);
    if (answer.question && !fields.has("confirmed")) {
      if (!(await confirm(answer.question, button?.textContent ?? "continue"))) return notify("cancelled");
      fields.set("confirmed", "yes");
      return post(form, fields, button);
    }
    markFaults(form, answer.fields ?? {});
    const sentence = isText ? text : answer.errors?.[0]?.message ?? "the host refused the request";
    if (response.ok && "resets" in form.dataset) {
      form.reset();
      delete form.dataset.touched;
    }
    // Of several acts in the queue, only the last one opens its page.
    if (next && waiting <= 1) return location.assign(next);
    notify(sentence, response.ok ? "good" : "bad");
  };
  // Acts of an application are performed in the order of their requests. At most this many may wait.
  const waitingLimit = 64;
  let [order, waiting, dropped] = [Promise.resolve(), 0, 0];
  const inOrder = (send) => {
    waiting += 1;
    const sent = order.then(send).finally(() => {
      waiting -= 1;
      if (waiting > 0 || dropped === 0) return;
      // The messages about the single drops have been replaced by now.
      notify(`${dropped} action${dropped === 1 ? "" : "s"} dropped: too many waited`, "bad");
      dropped = 0;
    });
    order = sent.catch(() => {});
    return sent;
  };
  // The ids of the forms whose calls have not been answered yet: a change of the page may replace the forms themselves.
  const sending = new Set();
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post" || !["/-/act", "/-/call"].includes(form.getAttribute("action"))) return;
    event.preventDefault();
    const button = event.submitter;
    const focus = button && placeOf(button);
    const fields = new URLSearchParams(new FormData(form));
    if (button?.name) fields.append(button.name, button.value);
    const name = button?.getAttribute("aria-label") || button?.textContent || "working";
    const isOrdered = "ordered" in form.dataset || "ordered" in (button?.dataset ?? {});
    const isCall = form.getAttribute("action") === "/-/call" && !isOrdered;
    if (isCall && sending.has(form.id)) return;
    if (isOrdered && waiting >= waitingLimit) {
      dropped += 1;
      return notify(`${name} was dropped: ${waiting} actions wait`, "bad");
    }
    if (isCall) sending.add(form.id);
    button?.setAttribute("aria-busy", "true");
    notify(name + " …");
    try {
      const send = () => post(form, fields, button);
      await (isOrdered ? inOrder(send) : send());
    } catch {
      notify("the host does not respond", "bad");
    } finally {
      if (isCall) sending.delete(form.id);
      button?.removeAttribute("aria-busy");
      if (focus && document.activeElement === body) focusOn(focus);
    }
  });
  // Neither a double click nor a key that is held down sends a form more than once, however soon the answer comes.
  document.addEventListener("click", (event) => {
    const form = event.target.closest("button")?.form;
    if (event.detail > 1 && form?.getAttribute("action") === "/-/call") event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isHeld = event.repeat && event.key === "Enter" && event.target.localName !== "textarea";
    if (isHeld && event.target.form?.method === "post") event.preventDefault();
  });
  // A key presses the button that names it, except where text is entered.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    if (event.key.length !== 1 || event.target.closest("input, select, textarea, dialog, [contenteditable]")) return;
    const button = document.querySelector(`button[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
  document.addEventListener("input", (event) => {
    if (event.target.form?.method === "post") event.target.form.dataset.touched = "";
  });

  // MARK: Command lines

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
      notify("copied");
    });
  }

  // Scroll to the newest lines, which are at the end.
  for (const log of document.querySelectorAll("[role=log]")) log.scrollTop = log.scrollHeight;
  // Clearing the search shows everything.
  byId("q")?.addEventListener("search", (event) => { if (!event.target.value) event.target.form.submit(); });
  if (scene) document.documentElement.dataset.script = "";
})();
