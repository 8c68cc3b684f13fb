import { expect, test } from "vitest";
import { type CheckResult, fail, ok, warn } from "./check.ts";
import { runChecks } from "./run-checks.ts";

test("all are asked in order, and one that throws is answered by its error", async () => {
  const results: CheckResult[] = [];
  const groups = [
    {
      name: "first",
      checks: [
        { name: "good", needs: "", fix: "", run: async () => ok("here") },
        { name: "usual", needs: "", fix: "the usual fix", run: async () => warn("little") },
        {
          name: "broken",
          needs: "",
          fix: "",
          run: async () => {
            throw new Error("no such file");
          },
        },
      ],
    },
    {
      name: "second",
      checks: [{ name: "bad", needs: "", fix: "", run: async () => fail("gone", "put it back") }],
    },
  ];

  for await (const result of runChecks(groups)) results.push(result);

  expect(
    results.map(({ group, name, status, detail, fix }) => [group, name, status, detail, fix]),
  ).toEqual([
    ["first", "good", "ok", "here", null],
    ["first", "usual", "warn", "little", "the usual fix"],
    ["first", "broken", "fail", "no such file", expect.any(String)],
    ["second", "bad", "fail", "gone", "put it back"],
  ]);
});
