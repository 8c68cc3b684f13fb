// Builds the documents as a site: pages in dist/web/docs/, with a search that needs no server.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { build } from "esbuild";
import { root } from "../ensure-installed.mjs";
import { navigation } from "./navigation.mjs";
import { escaped, pageOf, renderDocument } from "./render-document.mjs";

const images = ["docs/graph-page.png", "docs/overview.svg"];

export async function buildDocs(outDir = join(root, "dist/web/docs")) {
  const listed = navigation.flatMap(({ documents }) => documents);
  const documents = ["docs/README.md", ...listed];
  const known = new Set([...documents, ...images]);
  const rendered = await Promise.all(
    documents.map(async (document) => {
      const markdown = await readFile(join(root, document), "utf8");
      return { document, ...renderDocument(document, markdown, (path) => known.has(path)) };
    }),
  );
  const titles = new Map(rendered.map(({ document, title }) => [document, title]));

  await rm(outDir, { recursive: true, force: true });
  for (const { document, title, html } of rendered) {
    const page = pageOf(document);
    const file = join(outDir, page);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, wholePage({ page, title, html, menu: menuFor(page, titles) }));
  }
  for (const image of images)
    await cp(join(root, image), join(outDir, posix.relative("docs", image)));
  await writeFile(join(outDir, "search.json"), JSON.stringify(searchEntries(rendered)));
  await cp(join(root, "web/docs-site/docs.css"), join(outDir, "docs.css"));
  await build({
    absWorkingDir: root,
    entryPoints: ["web/docs-site/search.ts"],
    outfile: join(outDir, "search.js"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });
}

/** Entries of the search: one for each section. */
function searchEntries(rendered) {
  return rendered.flatMap(({ document, title, sections }) =>
    sections.map(({ heading, id, text }) => ({
      title,
      heading,
      url: `${pageOf(document)}${id === "" ? "" : `#${id}`}`,
      text: text.slice(0, 4_000),
    })),
  );
}

function menuFor(page, titles) {
  const to = (document) => posix.relative(posix.dirname(page), pageOf(document));
  return navigation
    .map(({ title, documents }) => {
      const links = documents.map((document) => {
        const current = pageOf(document) === page ? ' aria-current="page"' : "";
        return `<li><a href="${to(document)}"${current}>${escaped(titles.get(document) ?? document)}</a></li>`;
      });
      return `<h2>${title}</h2><ul>${links.join("")}</ul>`;
    })
    .join("\n");
}

function wholePage({ page, title, html, menu }) {
  const base = posix.relative(posix.dirname(page), ".") || ".";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Grange</title>
<link rel="icon" href="${base}/../favicon.svg">
<link rel="stylesheet" href="${base}/docs.css">
<script type="module" src="${base}/search.js"></script>
</head>
<body data-base="${base}">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a href="${base}/index.html"><strong>Grange</strong> documents</a>
<a href="${base}/../">to the farm</a>
<a class="narrow" href="#all-documents">all documents</a>
<search><label>Search <input type="search" id="query" autocomplete="off" aria-controls="results"></label><ol id="results" hidden></ol></search>
</header>
<div class="columns">
<nav id="all-documents" aria-label="Documents"><details open><summary>All documents</summary>
${menu}
</details></nav>
<main id="content">
${html}</main>
</div>
</body>
</html>
`;
}
