import { describe, expect, test } from "vitest";
import { testsInText, testsMeant } from "./tests-in-file.ts";

describe("tests of a file", () => {
  test("have their full names, with the placeholders of tables and template texts", () => {
    const tests = testsInText(`
      describe("a graph", () => {
        describe.each([1])("of %i jobs", () => {
          test.each([{ a: 1 }])("ends as $a", () => { expect(1).toBe(1); });
        });
        it(\`is \${state}\`, needs(git), async () => { expect(1).toBe(1); });
      });
    `);

    expect(tests.map(({ fullName }) => fullName)).toEqual([
      "a graph of %i jobs ends as $a",
      "a graph is *",
    ]);
    expect(tests.every(({ asserts, isSkipped }) => asserts && !isSkipped)).toBe(true);
  });

  test.each([
    `test.skip("a", () => { expect(1).toBe(1); });`,
    `test.skipIf(x)("a", () => { expect(1).toBe(1); });`,
    `test.todo("a", () => { expect(1).toBe(1); });`,
    `describe.skip("b", () => { test("a", () => { expect(1).toBe(1); }); });`,
  ])("are skipped: %s", (text) => {
    expect(testsInText(text)[0]?.isSkipped).toBe(true);
  });

  test.each([
    { text: `test("a", () => { run(); });`, asserts: false },
    { text: `test("a", () => { fc.assert(x); });`, asserts: true },
    { text: `test("a", () => { expectEnd(run()); });`, asserts: true },
    { text: `test("a", async () => { await expect.poll(run).toBe(1); });`, asserts: true },
    {
      text: `function ends() { expect(1).toBe(1); }\ntest("a", () => { ends(); });`,
      asserts: true,
    },
    {
      text: `const ends = () => after(inner); const inner = () => expect(1); test("a", ends);`,
      asserts: true,
    },
  ])("assert something: $asserts for $text", ({ text, asserts }) => {
    expect(testsInText(text)[0]?.asserts).toBe(asserts);
  });
});

test("a part of a name means one test, or all tests of one group", () => {
  const tests = testsInText(`
    describe("a search", () => { test("ends", () => {}); test("goes on", () => {}); });
    test("a run ends", () => {});
  `);
  const meant = (part: string) => testsMeant(tests, part).map(({ title }) => title);

  expect(meant("goes")).toEqual(["goes on"]);
  expect(meant("a search")).toEqual(["ends", "goes on"]);
  expect(meant("ends")).toEqual([]);
  expect(meant("a search ends")).toEqual(["ends"]);
  expect(meant("a run ends")).toEqual(["a run ends"]);
  expect(meant("nothing")).toEqual([]);
});
