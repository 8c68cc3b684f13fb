/** A page with a table; it needs no other file. */
export function asHtml(title, entries) {
  const rows = entries.map(
    ({ word, count, lines }) =>
      `<tr><td>${escaped(word)}</td><td>${count}</td><td>${lines.join(" ")}</td></tr>`,
  );
  return [
    "<!doctype html>",
    `<html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title>`,
    `<h1>${escaped(title)}</h1>`,
    "<table><tr><th>word</th><th>times</th><th>lines</th></tr>",
    ...rows,
    "</table></html>",
    "",
  ].join("\n");
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => entities[sign]);
}
