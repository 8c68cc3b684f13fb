// docs/papers.md lists the requirements of the five papers, and the tests that show them.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import pino from "pino";
import { expect, test } from "vitest";
import { commandList } from "#cli/command-list.ts";
import type { AllHandlers } from "#server/handlers/all-handlers.ts";
import { alwaysReady } from "#server/health/always-ready.fixture.ts";
import type { Farm } from "#server/http/farm.ts";
import { httpApp } from "#server/http/http-app.ts";
import { readPapers } from "./support/papers/read-papers.ts";
import { testsInFile, testsMeant } from "./support/papers/tests-in-file.ts";

const root = join(import.meta.dirname, "..");
const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const document = textOf("docs/papers.md");
const { entries, totals, unread } = readPapers(document);

test("every row of the tables can be read", () => {
  expect(unread).toEqual([]);
});

test.each(totals)("the numbers of $paper have no gaps and do not repeat", ({ paper }) => {
  const numbers = entries.filter((entry) => entry.paper === paper).map(({ number }) => number);

  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test.each(totals)("the totals of $paper are correct", ({ paper, ...stated }) => {
  const all = entries.filter((entry) => entry.paper === paper);
  const open = all.filter(({ shownBy }) => shownBy.kind === "open");
  for (const { name, shownBy } of open)
    if (shownBy.kind === "open") process.stdout.write(`open: ${name}: ${shownBy.reason}\n`);

  expect(stated).toEqual({
    sentences: all.length,
    withTests: all.length - open.length,
    open: open.length,
  });
});

test("every sentence belongs to a paper of the table of totals", () => {
  const stated = new Set(totals.map(({ paper }) => paper));

  expect(entries.filter(({ paper }) => !stated.has(paper))).toEqual([]);
});

test("a requirement that a paper leaves open is marked in its row, and has a decision below the table", () => {
  const marked = entries.filter(({ asks }) => asks.endsWith("(choice)")).map(({ name }) => name);
  const decided = Array.from(document.matchAll(/^- \*\*.+?:/gm), ([heading]) =>
    Array.from(heading.matchAll(/[LPSD]-\d+/g), ([name]) => name),
  ).flat();

  expect(marked.filter((name) => !decided.includes(name))).toEqual([]);
  expect(decided.filter((name) => !entries.some((entry) => entry.name === name))).toEqual([]);
});

test("each named test exists, is not skipped, and asserts something", () => {
  const written = new Map<string, ReturnType<typeof testsInFile>>();
  const problems = entries.flatMap(({ name, shownBy }) => {
    if (shownBy.kind === "open") return [];
    return shownBy.tests.flatMap(({ file, part }) => {
      if (!existsSync(join(root, file))) return `${name}: ${file} is missing`;
      const tests = written.get(file) ?? testsInFile(join(root, file));
      written.set(file, tests);
      const meant = testsMeant(tests, part);
      if (meant.length === 0) {
        const several = tests.some(({ fullName }) => fullName.includes(part));
        return `${name}: ${file} has ${several ? "several tests" : "no test"} called "${part}"`;
      }
      return meant.flatMap(({ fullName, isSkipped, asserts }) => [
        ...(isSkipped ? [`${name}: ${file} skips "${fullName}"`] : []),
        ...(asserts ? [] : [`${name}: ${file} asserts nothing in "${fullName}"`]),
      ]);
    });
  });

  expect(problems).toEqual([]);
});

test("each sentence names the places where a person sees it, and all these places exist", async () => {
  const problems: string[] = [];
  for (const { name, places, hasDocument } of entries) {
    if (places.length === 0 && !hasDocument) problems.push(`${name} names no place`);
    for (const place of places)
      if (!(await isThere(place))) problems.push(`${name}: there is no ${place}`);
  }

  expect(problems).toEqual([]);
});

const endpoints = httpApp({
  readiness: alwaysReady,
  farm: {} as Farm,
  handlers: {} as AllHandlers,
  logger: pino({ level: "silent" }),
  webDir: undefined,
  host: "127.0.0.1",
}).routes.map(({ method, path }) => ({ method, path: path.replace(/^\/api\/v1(?=\/)/, "") }));

const pages = ["root-route", "routes-benchmarks", "routes-build-tools", "routes-granary"]
  .concat(["routes-graphs", "routes-workers"])
  .flatMap((file) => Array.from(textOf(`web/${file}.tsx`).matchAll(/ path: "([^"]+)"/g)))
  .map(([, path = ""]) => path);

/**
 * Returns whether a command, an endpoint, a page, a setting or a table of `npm run show` exists as the document writes
 * it.
 */
async function isThere(place: string): Promise<boolean> {
  const [first = "", ...rest] = place.split(" ");
  const path = (rest[0] ?? "").replace(/\?.*$/, "");
  if (first === "grange") return await isCommand(rest);
  if (/^(?:GET|PUT|POST|DELETE)$/.test(first))
    return endpoints.some(
      (endpoint) => endpoint.method === first && isSamePath(path, endpoint.path),
    );
  if (first.startsWith("/")) return pages.some((page) => isSamePath(first, page));
  if (first.startsWith("GRANGE_")) return textOf("docs/settings.md").includes(`\`${first}\``);
  const show = /^npm run show -- ([a-z-]+)$/.exec(place)?.[1];
  if (show !== undefined) return existsSync(join(root, `bench/show/${show}/${show}-show.ts`));
  return false;
}

/** Follows the arguments to a subcommand, and looks for options there: `grange bench compare --metric`. */
async function isCommand(words: readonly string[]): Promise<boolean> {
  const [name = "", ...rest] = words;
  const listed = Object.hasOwn(commandList, name) ? commandList[name] : undefined;
  if (listed === undefined) return false;
  let command = new Command(name);
  (await listed.load())(command, { entry: "grange", version: "0.0.0" });
  for (const word of rest) {
    if (word.startsWith("-")) {
      if (!command.options.some(({ long, short }) => long === word || short === word)) return false;
      continue;
    }
    const sub = command.commands.find((each) => each.name() === word);
    if (sub !== undefined) command = sub;
    else if (command.commands.length > 0 && /^[a-z]/.test(word)) return false;
  }
  return true;
}

/** Compares by segments. Words in capitals stand for values: `/graphs/ID` is `/graphs/:id` and `/graphs/$id`. */
function isSamePath(written: string, route: string): boolean {
  const parts = route.replaceAll(/\{[^}]*\}/g, "").split("/");
  const words = written.split("/");
  return (
    words.length === parts.length &&
    words.every((word, index) =>
      /^[:$]/.test(parts[index] ?? "") ? /^[A-Z]+$/.test(word) : word === parts[index],
    )
  );
}
