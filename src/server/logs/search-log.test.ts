import fc from "fast-check";
import { expect, test } from "vitest";
import { WrittenLog } from "./log.fixture.ts";
import { LogPages } from "./log-pages.ts";
import { searchLog } from "./search-log.ts";

const find = async (log: string, text: string | undefined, from = 1, most = 1_000) =>
  searchLog(new WrittenLog(log).read, [0, 0], { text, from, most });

test.each([
  { what: "case", log: "an ERROR\nfine\nError", text: "error", lines: [1, 3] },
  {
    what: "a change of colour",
    log: "\u001b[31mer\u001b[1mror\u001b[0m\n",
    text: "error",
    lines: [1],
  },
  { what: "the case of other letters", log: "GRÜN\ngrün\n", text: "Grün", lines: [1, 2] },
])("ignores $what", async ({ log, text, lines }) => {
  expect((await find(log, text)).lines).toEqual(lines);
});

test("takes a text as it is written, and counts a line once", async () => {
  expect((await find("a.c a.c\nabc\n[x]*\n", "a.c")).lines).toEqual([1]);
  expect((await find("a.c\nabc\n[x]*\n", "[X]*")).lines).toEqual([3]);
});

test("finds lines that tell of an error, by the general rule", async () => {
  const log = [
    "$ echo error: a command that the farm prints",
    "0 errors, 0 warnings",
    "src/a.c:3:1: error: expected ';'",
    "error[E0308]: mismatched types",
    "TypeError: x is not a function",
    "##[error]Process completed",
    "no failure here",
    "FAIL test/a.test.ts",
    "the error-handling module",
  ].join("\n");

  expect((await find(log, undefined)).lines).toEqual([3, 4, 5, 6, 8]);
});

test("goes on where the last answer ended, without reading the log before", async () => {
  const log = new WrittenLog("some words\n".repeat(100_000));
  const pages = new LogPages();
  const { signal } = new AbortController();
  const first = await pages.search("log", log.read, { text: "words", from: 1, most: 3 }, signal);
  await pages.index("log", log.read);
  log.readBytes = 0;

  const query = { text: "words", from: 99_990, most: 5 };
  const last = await pages.search("log", log.read, query, signal);

  expect(first).toEqual({ lines: [1, 2, 3], next: 4 });
  expect(last).toEqual({ lines: [99_990, 99_991, 99_992, 99_993, 99_994], next: 99_995 });
  expect(log.readBytes).toBeLessThan(200_000);
});

test("finds the same as a search of the whole text, also in lines of any length", async () => {
  const part = fc.oneof(
    fc.constantFrom("\n", "needle", "NEED", "le", "é", " "),
    fc.integer({ min: 0, max: 1_500_000 }).map((length) => "y".repeat(length)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 15 }), async (parts) => {
      const log = parts.join("");
      const lines = log.split("\n").flatMap((line, at) => (/needle/i.test(line) ? [at + 1] : []));

      expect(await find(log, "needle")).toEqual({ lines, next: null });
    }),
    { numRuns: 40 },
  );
});

test("refuses a search for nothing", async () => {
  const { signal } = new AbortController();
  const search = new LogPages().search(
    "log",
    new WrittenLog("").read,
    { from: 1, most: 1 },
    signal,
  );

  await expect(search).rejects.toThrow("either `text` or `errors=true`");
});
