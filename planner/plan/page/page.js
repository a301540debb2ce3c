"use strict";
(() => {
  const show = (hash, focus) => {
    const at = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!at) return;
    for (let e = at; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    const item = at.closest("details") || at;
    item.scrollIntoView({block: "start"});
    if (focus && item.tagName === "DETAILS") item.querySelector("summary").focus({preventScroll: true});
  };
  addEventListener("hashchange", () => show(location.hash, true));
  document.addEventListener("click", (event) => {
    const a = event.target.closest("a[href^='#']");
    if (a && a.getAttribute("href") === location.hash) show(location.hash, true);
  });
  if (location.hash) show(location.hash, false);
  for (const e of document.querySelectorAll(".js")) e.hidden = false;
  for (const input of document.querySelectorAll("input[data-find]")) {
    const items = document.querySelectorAll("[data-list='" + input.dataset.find + "'] > [data-words]");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().trim();
      for (const e of items) e.hidden = !e.dataset.words.includes(words);
    });
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const e of closed) e.open = true;
  });
  addEventListener("afterprint", () => {
    for (const e of closed) e.open = false;
    closed = [];
  });
})();
