import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type GraphFacts,
  type GraphRule,
  isExpired,
  protectedBranches,
  ruleFor,
  whichGraphsGo,
} from "./which-graphs-go.ts";

const dayMs = 24 * 60 * 60_000;
const now = new Date("2026-06-01T00:00:00Z");
const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs);

function rule(change: Partial<GraphRule>): GraphRule {
  return {
    repository: "*",
    branch: "*",
    keepMs: 30 * dayMs,
    keepNewest: 0,
    most: undefined,
    ...change,
  };
}

function graph(change: Partial<GraphFacts>): GraphFacts {
  return {
    id: "g",
    repository: "app",
    branch: "topic",
    isProtected: false,
    finishedAt: daysAgo(100),
    newer: 10,
    isHeld: false,
    isSubgraph: false,
    neededBy: [],
    isNeededByMore: false,
    ...change,
  };
}

test.each<{ what: string; rules: GraphRule[]; of: Partial<GraphFacts>; expired: boolean }>([
  { what: "older than its rule says", rules: [rule({})], of: {}, expired: true },
  { what: "younger", rules: [rule({})], of: { finishedAt: daysAgo(29) }, expired: false },
  { what: "running", rules: [rule({})], of: { finishedAt: undefined }, expired: false },
  { what: "held", rules: [rule({})], of: { isHeld: true }, expired: false },
  { what: "old, among the newest", rules: [rule({ keepNewest: 11 })], of: {}, expired: false },
  { what: "old, behind the newest", rules: [rule({ keepNewest: 10 })], of: {}, expired: true },
  {
    what: "young, beyond the most",
    rules: [rule({ most: 10 })],
    of: { finishedAt: now },
    expired: true,
  },
  {
    what: "of a rule without an end",
    rules: [rule({ keepMs: undefined })],
    of: {},
    expired: false,
  },
  { what: "of no rule", rules: [rule({ repository: "other" })], of: {}, expired: false },
])("a graph that is $what is expired: $expired", ({ rules, of, expired }) => {
  expect(isExpired(rules, graph(of), now)).toBe(expired);
});

test("the more specific branch decides, then the repository", () => {
  const all = rule({});
  const app = rule({ repository: "app" });
  const guarded = rule({ branch: protectedBranches });
  const releases = rule({ branch: "release/*" });
  const release1 = rule({ branch: "release/1" });
  const rules = [all, app, guarded, releases, release1];
  const of = (branch: string, isProtected: boolean, repository = "app") =>
    ruleFor(rules, { branch, isProtected, repository });

  expect(of("topic", false)).toBe(app);
  expect(of("topic", false, "other")).toBe(all);
  expect(of("main", true)).toBe(guarded);
  expect(of("release/2", true)).toBe(releases);
  expect(of("release/1", true)).toBe(release1);
});

test("a graph is deleted together with its subgraph, and after its clone", () => {
  const facts = [
    graph({ id: "root", neededBy: ["sub", "clone"] }),
    graph({ id: "sub", isSubgraph: true, finishedAt: daysAgo(1), neededBy: ["root"] }),
    graph({ id: "clone" }),
  ];

  const groups = whichGraphsGo([rule({})], facts, now);

  expect(groups.map((group) => group.toSorted())).toEqual([["clone"], ["root", "sub"]]);
});

/** Graphs that refer to any others, themselves and unknown ones among them. */
const anyFacts = fc
  .array(
    fc.record({
      age: fc.integer({ min: 0, max: 60 }),
      isRunning: fc.boolean(),
      isHeld: fc.boolean(),
      isSubgraph: fc.boolean(),
      isNeededByMore: fc.boolean(),
      newer: fc.integer({ min: 0, max: 5 }),
      neededBy: fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 3 }),
    }),
    { maxLength: 14 },
  )
  .map((all) =>
    all.map(({ age, isRunning, neededBy, ...rest }, index) =>
      graph({
        ...rest,
        id: String(index),
        finishedAt: isRunning ? undefined : daysAgo(age),
        neededBy: neededBy.map(String),
      }),
    ),
  );
const anyRule = fc.record({
  keepMs: fc.option(
    fc.integer({ min: 1, max: 60 }).map((days) => days * dayMs),
    { nil: undefined },
  ),
  keepNewest: fc.integer({ min: 0, max: 3 }),
  most: fc.option(fc.integer({ min: 3, max: 6 }), { nil: undefined }),
});

test("for any references, no graph is deleted that a remaining one needs, and all others are deleted", () => {
  fc.assert(
    fc.property(anyFacts, anyRule, (facts, limits) => {
      const rules = [rule(limits)];
      const groups = whichGraphsGo(rules, facts, now);
      const gone = new Set(groups.flat());
      const byId = new Map(facts.map((each) => [each.id, each]));
      expect(gone.size).toBe(groups.flat().length);
      const deleted = new Set<string>();
      for (const group of groups) {
        for (const id of group) deleted.add(id);
        // After each transaction: all graphs that need a deleted graph are deleted.
        for (const id of group) {
          const one = byId.get(id);
          expect(one).toBeDefined();
          expect(one?.isHeld).toBe(false);
          expect(one?.finishedAt).toBeDefined();
          for (const other of one?.neededBy ?? []) expect(deleted.has(other)).toBe(true);
        }
      }
      // It is the largest such set: adding any remaining expired graph would break the rule.
      const stays = facts.filter(({ id }) => !gone.has(id));
      const could = (one: GraphFacts) => isExpired(rules, one, now) && !one.isNeededByMore;
      const staying = new Set(facts.filter((one) => !could(one)).map(({ id }) => id));
      for (let before = -1; before !== staying.size; ) {
        before = staying.size;
        for (const one of facts)
          if (one.neededBy.some((id) => id !== one.id && (staying.has(id) || !byId.has(id))))
            staying.add(one.id);
      }
      expect(new Set(stays.map(({ id }) => id))).toEqual(staying);
    }),
    { numRuns: 1_000 },
  );
});
