"use strict";
// Sort a table when a heading is pressed. A cell without a value comes last in both directions.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement, table = heading.closest("table"), column = heading.cellIndex;
    const isText = heading.dataset.kind === "text";
    const was = heading.getAttribute("aria-sort");
    const rises = was ? was === "descending" : isText;
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", rises ? "ascending" : "descending");
    const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => {
      const one = value(a), two = value(b);
      if (one === "" || two === "") return (one === "") - (two === "");
      const difference = isText ? one.localeCompare(two, undefined, { numeric: true }) : one - two;
      return rises ? difference : -difference;
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare));
  });
}
