// Builds the documents as a site: pages in dist/web/docs/, with a search that needs no server.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "../ensure-installed.mjs";
import { navigation } from "./navigation.mjs";
import { escaped, pageOf, renderDocument } from "./render-document.mjs";

const images = ["docs/graph-page.png", "docs/overview.svg"];

export async function buildDocs(outDir = join(root, "dist/web/docs")) {
  const listed = navigation.flatMap(({ documents }) => documents);
  const decisions = await decisionDocuments();
  const documents = ["docs/README.md", ...listed, ...decisions];
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
    const menu = decisions.includes(document)
      ? menuOfDecision(document, decisions, titles)
      : menuFor(page, titles);
    await writeFile(file, wholePage({ page, title, html, menu }));
  }
  for (const image of images)
    await cp(join(root, image), join(outDir, posix.relative("docs", image)));
  // Compressed, because the package has a limit of size; the browser decompresses it.
  const entries = JSON.stringify(searchEntries(rendered, new Set(decisions)));
  await writeFile(join(outDir, "search.json.gz"), gzipSync(entries, { level: 9 }));
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

/** Returns the decisions in their order, without the list of them. */
async function decisionDocuments() {
  const names = await readdir(join(root, "docs/decisions"));
  return names
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => `docs/decisions/${name}`);
}

/** Entries of the search: one for each section. Of a decision, the search knows the beginning: its question. */
function searchEntries(rendered, decisions) {
  return rendered.flatMap(({ document, title, sections }) =>
    sections.map(({ heading, id, text }) => {
      const isDecision = decisions.has(document);
      return {
        title,
        heading,
        url: `${pageOf(document)}${id === "" ? "" : `#${id}`}`,
        text: text.slice(0, isDecision ? 600 : 4_000),
        ...(isDecision && { isDecision }),
      };
    }),
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

/** The menu of a decision: with the whole menu, the pages of decisions would be twice as large. */
function menuOfDecision(document, decisions, titles) {
  const at = decisions.indexOf(document);
  const beside = [decisions[at - 1], decisions[at + 1]].filter((each) => each !== undefined);
  const links = [
    ["index.html", "All decisions"],
    ...beside.map((each) => [posix.basename(pageOf(each)), titles.get(each) ?? each]),
    ["../index.html", "All documents"],
  ];
  const items = links.map(([to, text]) => `<li><a href="${to}">${escaped(text)}</a></li>`);
  return `<h2>Decisions</h2><ul>${items.join("")}</ul>`;
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
