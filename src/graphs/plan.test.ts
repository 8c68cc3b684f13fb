import { afterAll, describe, expect, test } from "vitest";
import { catalogOf } from "#definitions/catalog.ts";
import { definitionsFrom } from "#definitions/definitions-from.fixture.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { findCycle } from "./find-cycle.ts";
import { plan } from "./plan.ts";

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

const planOf = async (jobs: string) =>
  plan(await definitionsFrom(evaluator, `version: 1\njobs:\n${jobs}`));

describe("a plan", () => {
  test("has an edge for each need, with the required end of the other job", async () => {
    const { edges } = await planOf(
      "  a: {commands: x}\n  b: {commands: x, needs: {a: {on: end}}}\n  c: {commands: x, needs: [a, b]}",
    );

    expect(edges).toEqual([
      { job: "b", on: "a", condition: "end" },
      { job: "c", on: "a", condition: "success" },
      { job: "c", on: "b", condition: "success" },
    ]);
  });

  test("leaves out unwanted jobs and jobs that need them, but not jobs that need them optionally", async () => {
    const { catalog, edges } = await planOf(
      "  a: {commands: x, when: 'false'}\n  b: {commands: x, needs: [a]}\n  c: {commands: x, needs: [b]}\n  d: {commands: x, needs: {c: {optional: true}}}",
    );

    expect(catalog.entries.map((entry) => entry.name)).toEqual(["d"]);
    expect(edges).toEqual([]);
  });

  test.each([
    {
      what: "an unknown job",
      jobs: "  lint: {commands: x}\n  b:\n    commands: x\n    needs:\n      lnt:",
      says: 'jobs.yml:7:7: job "b" needs "lnt", which does not exist; did you mean "lint"?',
    },
    {
      what: "a job that needs itself",
      jobs: "  a: {commands: x, needs: [a]}",
      says: 'job "a" needs itself (jobs.yml:3); remove one of these needs',
    },
    {
      what: "a cycle",
      jobs: "  a: {commands: x, needs: [b]}\n  b: {commands: x, needs: [c]}\n  c: {commands: x, needs: [a]}",
      says: "jobs wait for each other: a → b → c → a (jobs.yml:3, jobs.yml:4, jobs.yml:5); remove one of these needs",
    },
    {
      what: "an output that is not made",
      jobs: "  a: {commands: x, outputs: [out]}\n  b: {commands: x, needs: {a: {outputs: [dist]}}}",
      says: 'job "b" takes "dist" of "a", which does not make it: its outputs are out',
    },
    { what: "no jobs", jobs: "  {}", says: 'no job is defined; "grange init" writes a first one' },
    {
      what: "only unwanted jobs",
      jobs: "  a: {commands: x, when: 'false'}",
      says: "no job is left for this commit: the `when` of each is false",
    },
  ])("$what is refused, with its place", async ({ jobs, says }) => {
    await expect(planOf(jobs)).rejects.toThrow(says);
  });
});

describe("a catalog", () => {
  test("has the same digest for the same content in any order", () => {
    const one = catalogOf(
      new Map([
        ["a", { commands: ["x"], tags: { p: "1", q: "2" } }],
        ["b", { commands: ["y"] }],
      ]),
    );
    const other = catalogOf(
      new Map([
        ["b", { commands: ["y"] }],
        ["a", { tags: { q: "2", p: "1" }, commands: ["x"] }],
      ]),
    );

    expect(other.digest).toBe(one.digest);
  });

  test.each([
    { what: "a job is renamed", jobs: new Map([["c", { commands: ["x"] }]]) },
    { what: "a job changes", jobs: new Map([["a", { commands: ["z"] }]]) },
  ])("has another name when $what", ({ jobs }) => {
    expect(catalogOf(jobs).digest).not.toBe(
      catalogOf(new Map([["a", { commands: ["x"] }]])).digest,
    );
  });
});

test("a chain of 20,000 jobs has no cycle, and the check is not recursive", () => {
  const chain = new Map(
    Array.from({ length: 20_000 }, (_, i) => [`j${i}`, i === 0 ? [] : [`j${i - 1}`]]),
  );

  expect(findCycle(chain)).toBeUndefined();
});
