import { expect, test } from "vitest";
import { type CheckResult, fail, ok } from "./check.ts";
import { runChecks } from "./run-checks.ts";

test("all are asked in order, and one that throws is answered by its error", async () => {
  const results: CheckResult[] = [];
  const groups = [
    {
      name: "first",
      checks: [
        { name: "good", run: async () => ok("here") },
        {
          name: "broken",
          run: async () => {
            throw new Error("no such file");
          },
        },
      ],
    },
    { name: "second", checks: [{ name: "bad", run: async () => fail("gone", "put it back") }] },
  ];

  for await (const result of runChecks(groups)) results.push(result);

  expect(
    results.map(({ group, name, status, detail, fix }) => [group, name, status, detail, fix]),
  ).toEqual([
    ["first", "good", "ok", "here", null],
    ["first", "broken", "fail", "no such file", expect.any(String)],
    ["second", "bad", "fail", "gone", "put it back"],
  ]);
});
