// The pages are complete without this file. It filters the matrix, and unfolds the parts that a link or a printer needs.
"use strict";

function filterMatrix(form) {
  const text = form.querySelector("#filter-text");
  const choices = [...form.querySelectorAll("input[name=verdict]")];
  const rows = [...document.querySelectorAll("tr.rule")];
  const untriaged = form.querySelector("#filter-untriaged");
  const status = form.querySelector("#filter-count");
  function apply() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(choices.filter((choice) => !choice.checked).map((choice) => choice.value));
    let shown = 0;
    for (const row of rows) {
      const verdicts = row.dataset.verdicts.trim().split(" ");
      const wanted = verdicts.some((verdict) => !off.has(verdict)) && words.every((word) => row.dataset.search.includes(word))
        && (!untriaged.checked || "untriaged" in row.dataset);
      row.hidden = !wanted;
      shown += wanted ? 1 : 0;
    }
    for (const part of document.querySelectorAll(".matrix tbody")) {
      part.hidden = !part.querySelector("tr.rule:not([hidden])");
    }
    const filtered = words.length > 0 || off.size > 0 || untriaged.checked;
    status.textContent = filtered ? `${shown} of ${rows.length} rules` : "";
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply(); // a browser may have kept the form's state over a reload
}

function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details");
  if (fold) fold.open = true;
}

// Mark each table that is wider than its box, so that the style sheet shows that the table scrolls.
function tellClipped() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (!box.clientWidth) continue; // folded away
    const clipped = box.scrollWidth > box.clientWidth;
    box.classList.toggle("clipped", clipped);
    box.classList.toggle("fits", !clipped);
  }
}

const form = document.getElementById("filter");
if (form) filterMatrix(form);
openTarget();
addEventListener("hashchange", openTarget);
tellClipped();
addEventListener("resize", tellClipped);
document.addEventListener("toggle", tellClipped, true);
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.scenario")) fold.open = true;
});
