"use strict";
// Draws the report that stands in the page as JSON. Names in it are anybody's: they become text, never markup.

const report = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

// ---- Elements -------------------------------------------------------------------------------------------------------------------

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.setAttribute("class", value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// ---- Numbers --------------------------------------------------------------------------------------------------------------------

function scaled(value, step, units) {
  let at = 0;
  while (Math.abs(value) >= step && at < units.length - 1) { value /= step; at += 1; }
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[at]}`;
}
const bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const time = (us) => us < 1 ? `${(us * 1000).toFixed(0)} ns` : scaled(us, 1000, ["µs", "ms", "s"]);
const count = (value) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"]).trim();
const rate = (value, unit) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"].map((prefix) => prefix + unit));
const percent = (share) => share >= 0.0995 ? `${(share * 100).toFixed(0)} %` : `${(share * 100).toFixed(1)} %`;

// ---- What the report says of steps and programs ---------------------------------------------------------------------------------

const steps = report.steps.map((step, at) => ({ ...step, at }));
const kernels = steps.filter((step) => step.kind === "kernel");
const total = steps.reduce((sum, step) => sum + step.us, 0);
const share = (us) => total > 0 ? us / total : 0;
const classes = [...new Set(report.programs.map((program) => program.class))];
const classOf = (step) => step.program === null ? step.kind : report.programs[step.program].class;
const colour = (name) => { const at = classes.indexOf(name); return at < 0 ? "c7" : `c${at % 7}`; };

const stepsOfNode = new Map();
const stepsOfProgram = new Map();
for (const step of steps) {
  if (step.node !== null) stepsOfNode.set(step.node, [...(stepsOfNode.get(step.node) ?? []), step]);
  if (step.program !== null) stepsOfProgram.set(step.program, [...(stepsOfProgram.get(step.program) ?? []), step]);
}
const kernelOfSource = new Map();
report.kernel_graph.nodes.forEach((node, at) => {
  if (node.program !== null) for (const source of node.sources) kernelOfSource.set(source, at);
});
const sumOf = (list, what) => (list ?? []).reduce((sum, step) => sum + step[what], 0);

// The most that the device gives at this many operations a byte.
const roof = (intensity) => Math.min(report.peaks.flops_per_s, intensity * report.peaks.bytes_per_s);

/// The share of its roof that steps reach, by operations or, if there are none, by bytes.
function ofRoof(list) {
  const [us, flops, moved] = [sumOf(list, "us"), sumOf(list, "flops"), sumOf(list, "bytes")];
  if (us <= 0 || moved <= 0) return null;
  const seconds = us * 1e-6;
  const most = flops > 0 ? flops / roof(flops / moved) : moved / report.peaks.bytes_per_s;
  return Number.isFinite(most) ? most / seconds : null;
}

// ---- What is selected: a box of the graph of kernels, a box of the model, or a program --------------------------------------------

let selected = { kernel: null, source: null, program: null };
const watchers = [];
function select(kernel, source = null, program = null) {
  if (kernel !== null && program === null) program = report.kernel_graph.nodes[kernel].program;
  selected = { kernel, source, program };
  for (const watcher of watchers) watcher();
}
const selectStep = (step) => select(step.node, null, step.program);
const isSelected = (step) =>
  selected.kernel !== null && step.node !== null ? step.node === selected.kernel : step.program !== null && step.program === selected.program;

// ---- Head -----------------------------------------------------------------------------------------------------------------------

function head() {
  document.title = `${report.model} on ${report.device} – weftile`;
  byId("model").textContent = report.model;
  const shape = (input) => `${input.name} ${input.dtype}[${input.shape.join("×")}]`;
  const facts = [
    ["device", report.device],
    ["inputs", report.inputs.slice(0, 3).map(shape).join(", ") + (report.inputs.length > 3 ? ", …" : "") || "none"],
    ["a call", time(report.times.call_ms * 1000)],
    ["compiled in", time(report.times.compile_ms * 1000)],
  ];
  byId("facts").append(...facts.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
  const declined = report.recognized.filter((site) => site.declined);
  const box = byId("declined");
  box.hidden = declined.length === 0;
  box.querySelector("summary").textContent = `${declined.length} ${declined.length === 1 ? "place" : "places"} nearly an operator`;
  box.querySelector("ul").append(
    ...declined.map((site) => html("li", {}, html("b", {}, site.operator), ` ${site.place}: ${site.declined}`)));
}

// ---- Tabs -----------------------------------------------------------------------------------------------------------------------

const tabs = [...document.querySelectorAll("#tabs button")];
const drawn = new Set();
const draw = { graph: () => canvas.show("kernel_graph"), timeline, memory, roofline, kernels: kernelTable };

function show(name) {
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.dataset.tab).hidden = !chosen;
  }
  if (!drawn.has(name)) {
    drawn.add(name);
    draw[name]();
    for (const watcher of watchers) watcher();
  }
  history.replaceState(null, "", `#${name}`);
}
tabs.forEach((tab, at) => {
  tab.addEventListener("click", () => show(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { const next = tabs[(at + by + tabs.length) % tabs.length]; next.focus(); show(next.dataset.tab); }
  });
});

// ---- Graph ----------------------------------------------------------------------------------------------------------------------

const canvas = {
  element: byId("canvas"), world: null, graph: null, boxes: [], links: [], opened: null,
  view: { x: 0, y: 0, scale: 1 },

  show(name) {
    this.graph = name;
    this.opened = null;
    for (const button of document.querySelectorAll("[data-graph]")) {
      button.setAttribute("aria-checked", button.dataset.graph === name);
    }
    const drawing = report[name];
    this.world = svg("g");
    ({ boxes: this.boxes, links: this.links } = drawInto(this.world, drawing, name));
    const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
    this.element.replaceChildren(svg("defs", {}, marker), this.world);
    this.fit();
    this.mark();
    search();
  },

  size() {
    const { width, height } = this.element.getBoundingClientRect();
    return { width: width || 800, height: height || 600 };
  },

  // The whole graph if it can be read then, else its beginning.
  fit(whole = false) {
    const { width, height } = report[this.graph];
    const room = this.size();
    const scale = Math.min((room.width - 40) / width, (room.height - 40) / height, 1.2);
    const readable = whole ? scale : Math.max(scale, Math.min(0.6, (room.width - 40) / Math.min(width, 1600)));
    const first = report[this.graph].nodes[0];
    const middle = readable * width <= room.width || !first ? width / 2 : first.x + first.width / 2;
    this.move({ scale: readable, x: room.width / 2 - middle * readable, y: 20 });
  },

  move(view) {
    this.view = view;
    this.world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    this.world.setAttribute("class", view.scale < 0.35 ? "far" : "");
  },

  zoom(factor, x = this.size().width / 2, y = this.size().height / 2) {
    const scale = Math.min(4, Math.max(0.01, this.view.scale * factor));
    const by = scale / this.view.scale;
    this.move({ scale, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by });
  },

  // Brings a box into the middle unless it can be seen and read already.
  reveal(at) {
    const node = report[this.graph].nodes[at];
    const room = this.size();
    const scale = Math.max(this.view.scale, 0.8);
    const [x, y] = [node.x + node.width / 2, node.y + node.height / 2];
    const [sx, sy] = [x * this.view.scale + this.view.x, y * this.view.scale + this.view.y];
    const seen = sx > 40 && sx < room.width - 40 && sy > 40 && sy < room.height - 40;
    if (seen && scale === this.view.scale) return;
    this.move({ scale, x: room.width / 2 - x * scale, y: room.height / 2 - y * scale });
  },

  mark() {
    const chosen = this.graph === "kernel_graph" ? selected.kernel : selected.source;
    const members = this.graph === "model_graph" && selected.kernel !== null
      ? new Set(report.kernel_graph.nodes[selected.kernel].sources) : new Set();
    this.boxes.forEach((box, at) => {
      box.classList.toggle("selected", at === chosen);
      box.classList.toggle("of-selected", members.has(at));
    });
    this.links.forEach((link, at) => {
      const { from, to } = report[this.graph].links[at];
      link.classList.toggle("of-selected", chosen !== null && (from === chosen || to === chosen));
    });
  },

  // A kernel opens where it stands: the nodes that it was made of, over the rest of the graph.
  open(at) {
    this.opened?.remove();
    const node = this.graph === "kernel_graph" ? report.kernel_graph.nodes[at] : null;
    const again = this.opened?.dataset.node === String(at);
    this.opened = null;
    if (again || !node?.inside) return;
    const inside = node.inside;
    const title = `${node.title}: ${inside.nodes.length} nodes`;
    const [width, height] = [Math.max(inside.width + 32, title.length * 7.4 + 56), inside.height + 58];
    const group = svg("g", { class: "opened", transform: `translate(${node.x + node.width / 2 - width / 2} ${node.y})` });
    group.dataset.node = at;
    group.append(svg("rect", { width, height, rx: 9 }),
      svg("text", { x: 14, y: 22, class: "title", "font-size": 12, "font-weight": 700 }, title));
    const close = svg("text", { x: width - 22, y: 22, "font-size": 15, class: "close", onclick: () => this.open(at) }, "×");
    const nodes = svg("g", { transform: `translate(${(width - inside.width) / 2} 40)` });
    drawInto(nodes, inside, "model_graph");
    group.append(close, nodes);
    this.world.append(group);
    this.opened = group;
  },
};

function drawInto(group, drawing, name) {
  const links = drawing.links.map((link) => svg("path", { d: link.path, class: "link", "marker-end": "url(#arrow)" }));
  const flows = drawing.links.filter((link) => link.at).map((link) => svg("text", { x: link.at[0], y: link.at[1] + 3.5, class: "flow" }, link.label));
  const boxes = drawing.nodes.map((node, at) => box(node, at, name));
  group.append(...links, ...boxes, ...flows);
  return { boxes, links };
}

function box(node, at, name) {
  const { x, y, width, height } = node;
  const middle = x + width / 2;
  const cut = (text, size) => { const most = Math.floor((width - 12) / size); return text.length > most ? `${text.slice(0, most - 1)}…` : text; };
  const spent = name === "kernel_graph" ? share(sumOf(stepsOfNode.get(at), "us")) : 0;
  const group = svg("g", { class: `box ${node.kind}`, onclick: () => chooseBox(name, node, at) },
    svg("title", {}, [node.title, node.subtitle, ...node.places].join("\n")),
    svg("rect", { x, y, width, height, rx: 7, class: "body" }),
    svg("text", { x: middle, y: y + 18, class: "title" }, cut(node.title, 7.2)),
    svg("text", { x: middle, y: y + 34, class: "subtitle" }, cut(node.subtitle, 6.6)));
  if (spent > 0) group.append(svg("rect", { x: x + 6, y: y + height - 5, width: Math.max(1, (width - 12) * spent), height: 3, rx: 1.5, class: "heat" }));
  if (node.inside) group.append(svg("text", { x: x + width - 15, y: y + height - 6, class: "opens" }, "⊞"));
  group.dataset.name = `${node.title} ${node.subtitle} ${node.places.join(" ")}`.toLowerCase();
  return group;
}

function chooseBox(name, node, at) {
  if (name === "kernel_graph") {
    select(at);
    canvas.open(at);
  } else {
    const source = node.sources[0];
    select(kernelOfSource.get(source) ?? null, source);
  }
}

function pan() {
  const element = canvas.element;
  let from = null;
  element.addEventListener("pointerdown", (event) => { from = { x: event.clientX, y: event.clientY, view: canvas.view, moved: false }; });
  element.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (!from.moved && Math.hypot(dx, dy) < 4) return;
    if (!from.moved) { from.moved = true; element.setPointerCapture(event.pointerId); element.classList.add("dragged"); }
    canvas.move({ ...from.view, x: from.view.x + dx, y: from.view.y + dy });
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, () => { from = null; element.classList.remove("dragged"); });
  }
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const area = element.getBoundingClientRect();
    canvas.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - area.left, event.clientY - area.top);
  }, { passive: false });
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step) canvas.move({ ...canvas.view, x: canvas.view.x + step[0], y: canvas.view.y + step[1] });
    if (event.key === "+" || event.key === "=") canvas.zoom(1.25);
    if (event.key === "-") canvas.zoom(0.8);
    if (event.key === "0") canvas.fit(true);
  });
  byId("larger").addEventListener("click", () => canvas.zoom(1.25));
  byId("smaller").addEventListener("click", () => canvas.zoom(0.8));
  byId("fit").addEventListener("click", () => canvas.fit(true));
  for (const button of document.querySelectorAll("[data-graph]")) {
    button.addEventListener("click", () => {
      canvas.show(button.dataset.graph);
      const at = button.dataset.graph === "kernel_graph" ? selected.kernel
        : selected.source ?? (selected.kernel !== null ? report.kernel_graph.nodes[selected.kernel].sources[0] : null);
      if (at !== null && at !== undefined) canvas.reveal(at);
    });
  }
}

let hits = [];
let hit = -1;
function search() {
  const text = byId("search").value.trim().toLowerCase();
  hits = [];
  hit = -1;
  canvas.boxes.forEach((box, at) => {
    const found = text !== "" && box.dataset.name.includes(text);
    box.classList.toggle("found", found);
    if (found) hits.push(at);
  });
  byId("found").textContent = text === "" ? "" : `${hits.length} found`;
}
function nextHit(by) {
  if (hits.length === 0) return;
  hit = (hit + by + hits.length) % hits.length;
  byId("found").textContent = `${hit + 1} of ${hits.length}`;
  const at = hits[hit];
  if (canvas.graph === "kernel_graph") select(at);
  else select(kernelOfSource.get(at) ?? null, at);
  canvas.reveal(at);
}

// ---- Details --------------------------------------------------------------------------------------------------------------------

function facts(pairs) {
  return html("dl", {}, pairs.filter(([, value]) => value !== null && value !== "")
    .flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
}

function details() {
  const { kernel, source, program } = selected;
  const panel = byId("details");
  const node = source !== null ? report.model_graph.nodes[source] : kernel !== null ? report.kernel_graph.nodes[kernel] : null;
  if (!node && program === null) {
    panel.replaceChildren(html("p", { class: "quiet" }, "Select a box, a bar or a row: what it is, what it was made of, what it took and its code appear here."));
    return;
  }
  const code = program === null ? null : report.programs[program];
  const children = [html("h2", {}, node ? node.title : code.name)];
  if (node) children.push(html("p", { class: "quiet" }, node.subtitle));
  if (source !== null) {
    for (const place of node.places) children.push(html("p", {}, place));
    if (kernel === null) children.push(html("p", { class: "quiet" }, "No kernel is made of it alone: it was folded, or it only names or reshapes a value."));
  }
  const list = kernel !== null ? stepsOfNode.get(kernel) : stepsOfProgram.get(program);
  if (code) {
    children.push(html("h3", {}, source !== null ? "Its kernel" : "Kernel"), numbers(code, list));
  }
  const made = kernel !== null ? report.kernel_graph.nodes[kernel].sources : [];
  if (made.length > 0) {
    children.push(html("h3", {}, made.length === 1 ? "Made of" : `Made of ${made.length} nodes`), html("ul", {}, made.map((at) => {
      const origin = report.model_graph.nodes[at];
      return html("li", {}, html("button", { onclick: () => { canvas.show("model_graph"); show("graph"); select(kernel, at); canvas.reveal(at); } },
        origin.places[0] ?? `${origin.title} ${origin.subtitle}`));
    })));
  }
  if (code) {
    for (const kernelCode of code.kernels) {
      children.push(html("h3", {}, `${kernelCode.language.toUpperCase()}: ${kernelCode.name}`), html("pre", { tabindex: 0 }, kernelCode.text));
    }
    children.push(html("details", {}, html("summary", {}, "Schedule"), html("pre", { tabindex: 0 }, code.trace)));
  }
  panel.replaceChildren(...children);
  panel.scrollTop = 0;
}

function numbers(code, list) {
  const [us, flops, moved] = [sumOf(list, "us"), sumOf(list, "flops"), sumOf(list, "bytes")];
  const reached = ofRoof(list);
  const seconds = us * 1e-6;
  return facts([
    ["program", code.name],
    ["rules", code.rules],
    ["time", us > 0 ? `${time(us)}, ${percent(share(us))} of all steps` : "not called"],
    ["clock", list?.length ? `of the ${list[0].clock}` : ""],
    ["launches", list?.length ? String(sumOf(list, "launches")) : ""],
    ["operations", flops > 0 ? `${rate(flops, "FLOP")}, ${rate(flops / seconds, "FLOP/s")}` : ""],
    ["bytes", moved > 0 ? `${bytes(moved)}, ${rate(moved / seconds, "B/s")}` : ""],
    ["of the roof", reached === null ? "" : percent(reached)],
  ]);
}

// ---- Timeline -------------------------------------------------------------------------------------------------------------------

function legend() {
  const used = [...new Set(steps.map(classOf))];
  return html("ul", { class: "legend" }, used.map((name) => {
    const us = steps.filter((step) => classOf(step) === name).reduce((sum, step) => sum + step.us, 0);
    return html("li", {}, html("i", { class: colour(name) }), `${name}: ${time(us)}, ${percent(share(us))}`);
  }));
}

function ticks(most, wanted) {
  const raw = most / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw);
  return Array.from({ length: Math.floor(most / step * 1.000001) + 1 }, (_, at) => at * step);
}

function timeline() {
  const clocks = [...new Set(kernels.map((step) => step.clock))].join(" and ");
  const section = byId("timeline");
  section.append(html("h2", {}, "A call, step by step"),
    html("p", {}, `Kernels, copies and packed functions end to end, as the clock of the ${clocks || "host"} has them: medians of ${report.times.watched} calls, `
      + `${time(total)} in all. The watched call waits for each kernel; a call that nobody watches takes ${time(report.times.call_ms * 1000)}.`),
    legend());
  if (total <= 0) return;
  const [width, height, left] = [1100, 96, 8];
  const across = (us) => left + us / total * (width - 2 * left);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Timeline of a call" });
  for (const tick of ticks(total, 8)) {
    chart.append(svg("line", { x1: across(tick), x2: across(tick), y1: 6, y2: 72, class: "axis" }),
      svg("text", { x: across(tick), y: 88, "text-anchor": tick === 0 ? "start" : tick > total * 0.97 ? "end" : "middle" }, tick === 0 ? "0" : time(tick)));
  }
  let at = 0;
  const marks = steps.map((step) => {
    const x = across(at);
    at += step.us;
    const mark = svg("rect", { x, y: 12, width: Math.max(0.6, across(at) - x - 0.4), height: 52, rx: 1.5, class: `mark ${colour(classOf(step))}`, onclick: () => selectStep(step) },
      svg("title", {}, `${step.name}\n${time(step.us)}, ${percent(share(step.us))}`));
    chart.append(mark);
    return [step, mark];
  });
  watchers.push(() => marks.forEach(([step, mark]) => mark.classList.toggle("selected", isSelected(step))));
  section.append(chart, html("h3", {}, "Steps in order"), table(stepColumns, steps));
}

// ---- Tables ---------------------------------------------------------------------------------------------------------------------

const sourceNames = (step) => {
  const sources = step.node === null ? [] : report.kernel_graph.nodes[step.node].sources;
  const names = sources.map((at) => report.model_graph.nodes[at]).map((node) => `${node.subtitle} (${node.title})`);
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
};
const stepColumns = [
  { name: "#", number: true, value: (step) => step.at + 1 },
  { name: "step", value: (step) => step.name },
  { name: "class", fixed: true, value: (step) => classOf(step) },
  { name: "made of", value: (step) => step.why ?? sourceNames(step) },
  { name: "time", number: true, value: (step) => step.us, text: time },
  { name: "share", number: true, value: (step) => share(step.us), text: percent },
  { name: "FLOP", number: true, value: (step) => step.flops, text: count },
  { name: "bytes", number: true, value: (step) => step.bytes, text: bytes },
  { name: "of the roof", number: true, value: (step) => step.kind === "kernel" ? ofRoof([step]) ?? 0 : 0, text: (value) => value > 0 ? percent(value) : "" },
];

function table(columns, items) {
  const body = html("tbody");
  const rows = items.map((item) => {
    const row = html("tr", { onclick: () => selectStep(item) }, columns.map((column) => {
      const value = column.value(item);
      return html("td", { class: column.number ? "number" : column.fixed ? "" : "names" }, column.text ? column.text(value) : String(value));
    }));
    return [item, row];
  });
  body.append(...rows.map(([, row]) => row));
  let last = null;
  const sort = (column) => {
    const down = last === column ? 1 : -1;
    last = last === column ? null : column;
    const key = ([item]) => column.value(item);
    const order = (a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (column.number ? down : -down);
    body.append(...[...rows].sort(order).map(([, row]) => row));
  };
  const header = html("thead", {}, html("tr", {}, columns.map((column) =>
    html("th", { class: column.number ? "number" : "" }, html("button", { title: "Sort", onclick: () => sort(column) }, column.name)))));
  watchers.push(() => rows.forEach(([item, row]) => row.classList.toggle("selected", isSelected(item))));
  return html("table", {}, header, body);
}

function kernelTable() {
  const byTime = [...kernels].sort((a, b) => b.us - a.us);
  byId("kernels").append(html("h2", {}, "Kernels, slowest first"),
    html("p", {}, "The code of the selected kernel is beside the table, under the nodes that it was made of. "
      + "Operations are those on floating-point numbers; bytes are those of the arrays that a kernel reads and writes, each once."),
    table(stepColumns, byTime));
}

// ---- Memory ---------------------------------------------------------------------------------------------------------------------

function memory() {
  const section = byId("memory");
  section.append(html("h2", {}, "Memory of the tensors that a call makes"));
  const plan = report.memory;
  if (!plan) {
    section.append(html("p", {}, "Some sizes depend on elements of tensors, so the plan has no numbers before a call."));
    return;
  }
  const saved = plan.naive > 0 ? 1 - plan.planned / plan.naive : 0;
  section.append(html("p", {}, `Planned: ${bytes(plan.planned)} in ${plan.storages.length} storages. Each tensor for itself: ${bytes(plan.naive)}`
    + (saved > 0 ? `, so the plan saves ${percent(saved)}. ` : ". ")
    + `Needed at the same time: ${bytes(plan.live)}, less than which no plan takes. Weights and inputs are not counted.`));
  if (plan.tensors.length === 0 || plan.calls.length === 0) return;
  const [width, height, left, top, bottom] = [1100, 460, 78, 10, 34];
  const bases = [];
  let most = 0;
  for (const size of plan.storages) { bases.push(most); most += size; }
  most = Math.max(most, 1);
  const across = (call) => left + call / plan.calls.length * (width - left - 10);
  const up = (at) => height - bottom - at / most * (height - top - bottom);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Memory plan over the calls" });
  for (const tick of byteTicks(most)) {
    chart.append(svg("line", { x1: left, x2: width - 10, y1: up(tick), y2: up(tick), class: "axis" }),
      svg("text", { x: left - 8, y: up(tick) + 4, "text-anchor": "end" }, tick === 0 ? "0" : bytes(tick)));
  }
  const marks = [];
  for (const tensor of plan.tensors) {
    if (tensor.storage === null) continue;
    const from = bases[tensor.storage] + tensor.offset;
    const name = plan.calls[tensor.from];
    const program = report.programs.findIndex((candidate) => candidate.name === name);
    const mark = svg("rect", {
      x: across(tensor.from), width: Math.max(1, across(tensor.to + 1) - across(tensor.from) - 0.6),
      y: up(from + tensor.bytes), height: Math.max(0.8, up(from) - up(from + tensor.bytes) - 0.6),
      class: `mark ${program < 0 ? "c7" : colour(report.programs[program].class)}`,
      "fill-opacity": tensor.result ? 0.55 : 0.85,
      onclick: () => program >= 0 && select(null, null, program),
    }, svg("title", {}, `${tensor.name}: ${bytes(tensor.bytes)}\nstorage ${tensor.storage}, from byte ${tensor.offset}\nmade for ${name}${tensor.result ? "\ngiven back" : ""}`));
    marks.push([program, mark]);
    chart.append(mark);
  }
  const live = plan.calls.map((_, call) => plan.tensors.reduce((sum, t) => t.storage !== null && t.from <= call && call <= t.to ? sum + t.bytes : sum, 0));
  const line = live.map((sum, call) => `${call === 0 ? "M" : "L"}${across(call)} ${up(sum)}L${across(call + 1)} ${up(sum)}`).join("");
  chart.append(svg("path", { d: line, class: "live" }),
    svg("text", { x: left, y: height - 10 }, "first call"), svg("text", { x: width - 10, y: height - 10, "text-anchor": "end" }, `call ${plan.calls.length}`));
  watchers.push(() => marks.forEach(([program, mark]) => mark.classList.toggle("selected", program >= 0 && program === selected.program)));
  section.append(chart, html("p", { class: "quiet" },
    "Across: the calls of the function in order. Up: the storages on top of each other, and the tensors where they are in them, as long as they are needed. "
    + "Colours are those of the kernels that write the tensors; pale ones are given back. The line is what is needed at that call."));
}

function byteTicks(most) {
  let step = 1;
  while (most / step > 8) step *= 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step);
}

// ---- Roofline -------------------------------------------------------------------------------------------------------------------

function roofline() {
  const { peaks } = report;
  const section = byId("roofline");
  if (!(peaks.bytes_per_s > 0 && peaks.flops_per_s > 0)) {
    section.append(html("p", {}, "The clock of this device is too coarse to measure what it can do."));
    return;
  }
  section.append(html("h2", {}, "Roofline of this device"),
    html("p", {}, `The device moves ${rate(peaks.bytes_per_s, "B/s")} and computes ${rate(peaks.flops_per_s, "FLOP/s")}: the best of programs that this compiler made, `
      + `measured in the same run by the clock of the ${peaks.clock}. A kernel above the roof finds its arrays in a cache.`),
    html("ul", { class: "quiet" }, peaks.measured.map((line) => html("li", {}, line))), legend());
  const points = kernels.filter((step) => step.flops > 0 && step.bytes > 0 && step.us > 0)
    .map((step) => ({ step, x: step.flops / step.bytes, y: step.flops / (step.us * 1e-6) }));
  const ridge = peaks.flops_per_s / peaks.bytes_per_s;
  const low = (values) => Math.floor(Math.log10(Math.min(...values)));
  const high = (values) => Math.ceil(Math.log10(Math.max(...values)));
  const xs = [...points.map((p) => p.x), ridge / 10, ridge * 10];
  const ys = [...points.map((p) => p.y), peaks.flops_per_s * 1.5, peaks.flops_per_s / 100];
  const [x0, x1, y0, y1] = [low(xs), high(xs), low(ys), high(ys)];
  const [width, height, left, top, right, bottom] = [1100, 480, 86, 12, 24, 46];
  const across = (x) => left + (Math.log10(x) - x0) / (x1 - x0) * (width - left - right);
  const up = (y) => height - bottom - (Math.log10(y) - y0) / (y1 - y0) * (height - top - bottom);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Roofline" });
  for (let power = x0; power <= x1; power += 1) {
    const x = across(10 ** power);
    chart.append(svg("line", { x1: x, x2: x, y1: top, y2: height - bottom, class: "axis" }),
      svg("text", { x, y: height - bottom + 16, "text-anchor": "middle" }, power < 0 ? String(10 ** power) : count(10 ** power)));
  }
  for (let power = y0; power <= y1; power += 1) {
    const y = up(10 ** power);
    chart.append(svg("line", { x1: left, x2: width - right, y1: y, y2: y, class: "axis" }),
      svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, rate(10 ** power, "FLOP/s")));
  }
  const start = Math.max(10 ** x0, 10 ** y0 / peaks.bytes_per_s);
  chart.append(svg("text", { x: width / 2, y: height - 8, "text-anchor": "middle" }, "FLOP per byte"),
    svg("path", { class: "roof", d: `M${across(start)} ${up(roof(start))}L${across(ridge)} ${up(peaks.flops_per_s)}L${across(10 ** x1)} ${up(peaks.flops_per_s)}` }));
  const longest = Math.max(...points.map((p) => p.step.us), 1e-9);
  const marks = points.sort((a, b) => b.step.us - a.step.us).map(({ step, x, y }) => {
    const mark = svg("circle", { cx: across(x), cy: up(y), r: 3 + 9 * Math.sqrt(step.us / longest), "fill-opacity": 0.75, class: `mark ${colour(classOf(step))}`, onclick: () => selectStep(step) },
      svg("title", {}, `${step.name}\n${sourceNames(step)}\n${rate(y, "FLOP/s")} at ${x.toFixed(2)} FLOP per byte: ${percent(y / roof(x))} of the roof`));
    chart.append(mark);
    return [step, mark];
  });
  watchers.push(() => marks.forEach(([step, mark]) => mark.classList.toggle("selected", isSelected(step))));
  section.append(chart, html("h3", {}, "By class"), classTable());
}

function classTable() {
  const used = [...new Set(kernels.map(classOf))];
  const rows = used.map((name) => {
    const list = kernels.filter((step) => classOf(step) === name);
    const [us, flops, moved] = ["us", "flops", "bytes"].map((what) => sumOf(list, what));
    const reached = ofRoof(list);
    const cells = [String(list.length), time(us), percent(share(us)), rate(flops / (us * 1e-6 || 1), "FLOP/s"), rate(moved / (us * 1e-6 || 1), "B/s"),
      moved > 0 ? (flops / moved).toFixed(2) : "", reached === null ? "" : percent(reached)];
    return html("tr", {}, html("td", {}, name), cells.map((cell) => html("td", { class: "number" }, cell)));
  });
  const titles = ["kernels", "time", "share", "FLOP/s", "bytes/s", "FLOP per byte", "of the roof"];
  return html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, "class"), titles.map((title) => html("th", { class: "number" }, title)))),
    html("tbody", {}, rows));
}

// ---- Start ----------------------------------------------------------------------------------------------------------------------

head();
pan();
watchers.push(details, () => canvas.world && canvas.mark());
byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { event.target.value = ""; search(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); show("graph"); byId("search").focus(); }
});
select(null);
const asked = location.hash.slice(1);
show(draw[asked] ? asked : "graph");
document.documentElement.dataset.ready = "yes";
