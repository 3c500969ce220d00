"use strict";
(() => {
  const lines = new Map();
  for (const line of document.querySelectorAll("[data-p]")) {
    const place = line.dataset.p;
    if (!lines.has(place)) lines.set(place, []);
    lines.get(place).push(line);
  }
  let lit = null;
  let held = null;

  const mark = (place, name, on) => {
    for (const line of lines.get(place) ?? []) line.classList.toggle(name, on);
  };
  const light = (place) => {
    if (place === lit) return;
    mark(lit, "lit", false);
    mark((lit = place), "lit", true);
  };
  const bringIntoView = (place, from) => {
    const seen = new Set([from]);
    for (const line of lines.get(place) ?? []) {
      const pane = line.closest(".code");
      if (seen.has(pane) || !pane.offsetParent) continue;
      seen.add(pane);
      pane.scrollTop += line.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
    }
  };
  const hold = (place, from) => {
    mark(held, "held", false);
    held = place === held ? null : place;
    mark(held, "held", true);
    light(held);
    if (held !== null) bringIntoView(held, from);
    history.replaceState(null, "", held === null ? location.pathname + location.search : "#p" + held);
  };
  const placeOf = (event) => event.target.closest("[data-p]")?.dataset.p ?? null;

  const main = document.querySelector("main");
  const point = (event) => { if (held === null) light(placeOf(event)); };
  main.addEventListener("mouseover", point);
  main.addEventListener("mouseleave", () => { if (held === null) light(null); });
  main.addEventListener("focusin", point);
  main.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place !== null && getSelection().isCollapsed) hold(place, event.target.closest(".code"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && held !== null) hold(held, null);
    if (event.key === "Enter" && event.target.matches("[data-p]")) hold(event.target.dataset.p, event.target.closest(".code"));
  });
  document.addEventListener("click", (event) => {
    const to = event.target.closest("[data-to]");
    if (to === null) return;
    event.preventDefault();
    if (held !== to.dataset.to) hold(to.dataset.to, null);
    else bringIntoView(held, null);
  });
  for (const box of document.querySelectorAll("[data-pane]")) {
    const show = () => { document.getElementById("pane-" + box.dataset.pane).hidden = !box.checked; };
    box.addEventListener("change", show);
    show();
  }
  document.getElementById("costs")?.addEventListener("change", (event) => {
    document.getElementById("pane-source").classList.toggle("without-costs", !event.target.checked);
  });
  const named = /^#p(\d+)$/.exec(location.hash);
  if (named && lines.has(named[1])) hold(named[1], null);
})();
