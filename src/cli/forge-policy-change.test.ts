import { expect, test } from "vitest";
import { policyChangeOf } from "./forge-policy-change.ts";

test("only what was given is changed; usual takes it back", () => {
  expect(
    policyChangeOf({
      graph: "nightly",
      suite: "usual",
      forkGraphs: "always",
      pullGraphs: false,
      poll: 30_000,
      command: ["bench=triage", "approve=admin"],
      forkPlatform: ["pool=small-*", "pool=forks"],
    }),
  ).toEqual({
    graph: "nightly",
    suite: null,
    forkGraphs: "always",
    pullGraphs: false,
    pollMs: 30_000,
    commands: { bench: "triage", approve: "admin" },
    forkPlatform: { pool: ["small-*", "forks"] },
  });
  expect(policyChangeOf({ forkPlatform: ["usual"] })).toEqual({ forkPlatform: null });
  expect(policyChangeOf({})).toEqual({});
});

test.each([
  { what: "a word that is none", options: { forkGraphs: "sometimes" }, says: "--fork-graphs: " },
  {
    what: "a permission that is none",
    options: { command: ["bench=king"] },
    says: "--command bench: ",
  },
  { what: "half a pair", options: { command: ["bench"] }, says: "COMMAND=PERMISSION" },
])("$what is refused by name", ({ options, says }) => {
  expect(() => policyChangeOf(options)).toThrow(says);
});
