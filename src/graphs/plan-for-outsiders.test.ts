import { expect, test } from "vitest";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import type { DefinedJob, Definitions } from "#definitions/fill-templates.ts";
import { JobDefinition } from "#definitions/job-definition.ts";
import { planForOutsiders } from "./plan-for-outsiders.ts";

const rules = { network: false, platform: { OSFamily: ["*"], pool: ["forks", "small-*"] } };

function definitionsOf(jobs: Readonly<Record<string, object>>): Definitions {
  const defined = Object.entries(jobs).map(
    ([name, definition]): DefinedJob => ({
      name,
      definition: JobDefinition.parse(definition),
      wanted: true,
      problemAt: (path, message) => ({ file: path.join("."), line: null, column: null, message }),
    }),
  );
  return { jobs: defined, parameters: {}, switches: {}, graph: undefined };
}

const plain = { commands: "true" };
const refusalsOf = async (jobs: Readonly<Record<string, object>>, select?: string) => {
  try {
    await planForOutsiders(definitionsOf(jobs), select, rules);
    return [];
  } catch (reason) {
    if (!(reason instanceof DefinitionProblems)) throw reason;
    return reason.problems.map(({ file }) => file);
  }
};

const refused: readonly { readonly what: string; readonly job: object; readonly at: string }[] = [
  { what: "the network", job: { ...plain, network: true }, at: "network" },
  { what: "secrets", job: { ...plain, secrets: ["KEY"] }, at: "secrets" },
  {
    what: "another repository",
    job: { ...plain, sources: [{ repository: "/etc", at: "x" }] },
    at: "sources",
  },
  { what: "a graph of its own making", job: { ...plain, kind: "graph" }, at: "kind" },
  { what: "a label", job: { ...plain, platform: { label: "trusted" } }, at: "platform.label" },
  {
    what: "a size",
    job: { ...plain, platform: { "min-size-class": "64" } },
    at: "platform.min-size-class",
  },
  {
    what: "a pool of others",
    job: { ...plain, platform: { pool: "release" } },
    at: "platform.pool",
  },
  {
    what: "a name of JavaScript's",
    job: { ...plain, platform: { constructor: "x" } },
    at: "platform.constructor",
  },
];

test.each(refused)("a job of an outsider may not have $what", async ({ job, at }) => {
  expect(await refusalsOf({ a: job })).toEqual([at]);
});

test("plain jobs, and properties that the rules list, are allowed", async () => {
  const jobs = {
    a: { ...plain, platform: { OSFamily: "linux", pool: "small-2" } },
    b: { ...plain, needs: ["a"], network: false },
    all: { kind: "join", needs: ["a", "b"] },
  };

  expect(await refusalsOf(jobs)).toEqual([]);
  expect(
    (await planForOutsiders(definitionsOf(jobs), undefined, rules)).catalog.entries.map(
      ({ name }) => name,
    ),
  ).toEqual(["a", "all", "b"]);
});

test("jobs that are not in the graph do not count", async () => {
  expect(await refusalsOf({ a: plain, deploy: { ...plain, network: true } }, "a")).toEqual([]);
});

test("jobs of outsiders require the isolation of the rules, or more", async () => {
  const planned = async (isolation: "sandbox" | "strict" | undefined) => {
    const definitions = definitionsOf({
      a: plain,
      b: { ...plain, isolation: "strict" },
      all: { kind: "join", needs: ["a", "b"] },
    });
    const { catalog } = await planForOutsiders(definitions, undefined, {
      ...rules,
      ...(isolation === undefined ? {} : { isolation }),
    });
    return Object.fromEntries(
      catalog.entries.map(({ name, definition }) => [name, definition.isolation]),
    );
  };

  expect(await planned("strict")).toEqual({ a: "strict", all: undefined, b: "strict" });
  expect(await planned("sandbox")).toEqual({ a: "sandbox", all: undefined, b: "strict" });
  expect(await planned(undefined)).toEqual({ a: undefined, all: undefined, b: "strict" });
});
