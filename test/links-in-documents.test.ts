import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { anchorsIn, linksIn } from "./support/markdown-links.ts";

const root = join(import.meta.dirname, "..");
/** Directories whose files do not belong to the project or are temporary. */
const skipped = new Set(["node_modules", "dist", ".git", ".grange-data"]);

function filesBelow(folder: string, ends: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path, ends);
    return ends.test(entry.name) ? [path] : [];
  });
}

const documents = filesBelow(root, /\.md$/);

test.each(documents.map((path) => relative(root, path)))("every link in %s resolves", (name) => {
  const path = join(root, name);
  const text = readFileSync(path, "utf8");

  const broken = linksIn(text).flatMap(({ line, path: target, anchor }) => {
    const file = target === "" ? path : join(dirname(path), target);
    if (!existsSync(file)) return `${name}:${line}: ${target} is missing`;
    if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith(".md")) return [];
    if (anchorsIn(readFileSync(file, "utf8")).includes(anchor)) return [];
    return `${name}:${line}: ${relative(root, file)} has no heading #${anchor}`;
  });

  expect(broken).toEqual([]);
});

test("every document below docs/ that a source names exists", () => {
  const sources = ["src", "web", "test", "bench", "scripts"].flatMap((folder) =>
    filesBelow(join(root, folder), /(?<!\.test)\.(?:tsx?|mjs)$/),
  );

  const broken = sources.flatMap((path) =>
    Array.from(
      readFileSync(path, "utf8").matchAll(/(?<![\w./-])docs\/(?:[a-z0-9-]+\/)*[a-z0-9-]+\.md/g),
      ([target]) => target,
    )
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${relative(root, path)}: ${target} is missing`),
  );

  expect(broken).toEqual([]);
});

describe("links of a Markdown document", () => {
  test("are those outside code that stay in the repository", () => {
    const text = [
      "[a](b.md) ![c](d.png) [e](https://example.org) [f](#g)",
      "`[h](i.md)`",
      "```sh",
      "[j](k.md)",
      "```",
      "[l](m.md#n)",
    ].join("\n");

    expect(linksIn(text)).toEqual([
      { line: 1, path: "b.md", anchor: undefined },
      { line: 1, path: "d.png", anchor: undefined },
      { line: 1, path: "", anchor: "g" },
      { line: 6, path: "m.md", anchor: "n" },
    ]);
  });

  test.each([
    { heading: "## What is kept, and for how long", expected: "what-is-kept-and-for-how-long" },
    { heading: "# How `grange` chooses", expected: "how-grange-chooses" },
    { heading: "### [A link](b.md) here", expected: "a-link-here" },
  ])("lead to $expected for $heading", ({ heading, expected }) => {
    expect(anchorsIn(heading)).toEqual([expected]);
  });

  test("lead to a repeated heading with its number", () => {
    expect(anchorsIn("# A\n# A\n")).toEqual(["a", "a-1"]);
  });
});
