import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import MiniSearch from "minisearch";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDocs } from "../scripts/docs-site/build-docs.mjs";
import { navigation } from "../scripts/docs-site/navigation.mjs";

const root = join(import.meta.dirname, "..");
let site: string;
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "grange-docs-"));
  await buildDocs(site);
  const names = (await readdir(site, { recursive: true })).filter((name) => name.endsWith(".html"));
  pages = new Map(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(site, name), "utf8")] as const),
    ),
  );
});
afterAll(() => rm(site, { recursive: true }));

test("each document is in the navigation, once", async () => {
  const listed = navigation.flatMap(({ documents }) => documents);
  const names = await readdir(join(root, "docs"), { recursive: true });
  const documents = names
    .filter(
      (name) =>
        name.endsWith(".md") && !/^(?:decisions|README|examples|papers|references)/.test(name),
    )
    .map((name) => `docs/${name}`);

  expect(new Set(listed).size).toBe(listed.length);
  expect(documents.filter((name) => !listed.includes(name))).toEqual([]);
});

test("the list of decisions names each one, in the order of their numbers", async () => {
  const directory = join(root, "docs/decisions");
  const files = (await readdir(directory)).filter((name) => /^\d{4}-/.test(name)).toSorted();
  const list = await readFile(join(directory, "README.md"), "utf8");
  const entries = Array.from(list.matchAll(/^(\d+)\. .*\(([^()]+)\)$/gm));

  expect(entries.map(([, , file]) => file)).toEqual(files);
  expect(entries.map(([, number]) => number?.padStart(4, "0"))).toEqual(
    files.map((name) => name.slice(0, 4)),
  );
});

test("each link of the site leads to a page and a heading that exist", async () => {
  const files = new Set(await readdir(site, { recursive: true }));
  const broken = [...pages].flatMap(([page, html]) =>
    Array.from(html.matchAll(/(?:href|src)="([^"]*)"/g), ([, address = ""]) => address)
      .filter(
        (address) =>
          !/^[a-z]+:/i.test(address) && !normalize(join(dirname(page), address)).startsWith(".."),
      )
      .filter((address) => {
        const [path = "", anchor] = address.replaceAll("&amp;", "&").split("#");
        const target = path === "" ? page : normalize(join(dirname(page), decodeURI(path)));
        // The farm itself.
        if (target === "./" || target === ".") return false;
        if (!files.has(target)) return true;
        return anchor !== undefined && pages.get(target)?.includes(`id="${anchor}"`) !== true;
      })
      .map((address) => `${page}: ${address}`),
  );

  expect(broken).toEqual([]);
});

test("each decision has a page, and documents link to it", async () => {
  const names = await readdir(join(root, "docs/decisions"));
  const decisions = names.filter((name) => /^\d{4}-/.test(name));

  const missing = decisions
    .map((name) => `decisions/${name.replace(/\.md$/, ".html")}`)
    .filter((page) => !pages.has(page));

  expect(decisions.length).toBeGreaterThan(100);
  // Other documents refer to a decision by its number.
  expect(new Set(decisions.map((name) => name.slice(0, 4))).size).toBe(decisions.length);
  expect(missing).toEqual([]);
  expect(pages.get("object-storage.html")).toContain(
    'href="decisions/0154-index-of-a-bucket.html"',
  );
  expect(pages.get("tutorial.html")).toContain('<a href="decisions/index.html">Decisions</a>');
  expect(pages.get("decisions/0154-index-of-a-bucket.html")).toContain(
    '<a href="index.html">All decisions</a>',
  );
});

test("a page has a title, the menu with itself, and no script of its own", () => {
  const html = pages.get("tutorial.html") ?? "";

  expect(html).toContain("<title>Ten minutes with Grange · Grange</title>");
  expect(html).toContain('<a href="tutorial.html" aria-current="page">');
  for (const [page, text] of pages) {
    expect(`${page} ${/<script(?! type="module" src=")/.test(text)}`).toBe(`${page} false`);
  }
});

test("the search finds a section and a decision by their words", async () => {
  const packed = await readFile(join(site, "search.json.gz"));
  const sections = JSON.parse((await promisify(gunzip)(packed)).toString("utf8"));
  const search = new MiniSearch({ idField: "url", fields: ["title", "heading", "text"] });
  search.addAll(sections);
  const found = (words: string) =>
    search.search(words, { combineWith: "AND", boost: { heading: 3 } }).map(({ id }) => id);

  expect(found("exit codes")[0]).toBe("commands.html#exit-codes");
  expect(found("bucket index PostgreSQL upload")).toContain(
    "decisions/0154-index-of-a-bucket.html",
  );
});
