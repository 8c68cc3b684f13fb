import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { caseKey } from "#core/test-case.ts";
import { planCases } from "#suites/plan-cases.ts";
import { aSuite } from "../perf.fixture.ts";
import { isSameRequest, mergeRequests } from "./merge-requests.ts";
import { missingParents } from "./missing-parents.ts";
import { confirmingJobs, ownJobs, planRequest, type Request } from "./plan-request.ts";
import { whichToStart } from "./which-to-start.ts";

const suite = aSuite();
const npm = { kind: "npm", package: "p", version: "1.0.0" } as const;
const everything: Request = {
  backends: [],
  profiles: [],
  targets: [],
  benchmarks: [],
  paired: false,
  runs: null,
};
const someRequest = fc.record({
  backends: fc.subarray(["js", "native"]),
  profiles: fc.subarray(["check", "emit"]),
  targets: fc.subarray(["linux-x64", "linux-arm64"]),
  benchmarks: fc.subarray(["alpha", "beta", "gamma", "sort"]),
  paired: fc.boolean(),
  runs: fc.option(fc.integer({ min: 1, max: 50 })),
});
const artifact = (id: number, ...backends: string[]) => ({
  id,
  components: Object.fromEntries(backends.map((name) => [name, npm])),
});
const casesOf = (request: Request) =>
  ownJobs(suite, request, artifact(1, "js", "native")).flatMap((job) =>
    planCases(suite, job).map((each) => caseKey(each)),
  );

describe("a plan", () => {
  test("measures for a parent only missing results, and only with backends that it has", () => {
    fc.assert(
      fc.property(
        someRequest,
        fc.boolean(),
        fc.infiniteStream(fc.integer({ min: 0, max: 50 })),
        (request, hasNative, luck) => {
          const parent = hasNative ? artifact(2, "js", "native") : artifact(2, "js");
          // The number of runs of the existing results.
          const measured = new Map(
            casesOf({ ...everything, backends: ["js", "native"] }).flatMap((key) => {
              const runs: number = luck.next().value;
              return runs === 0 ? [] : [[key, runs] as const];
            }),
          );
          const isEnough = (key: string) => (measured.get(key) ?? 0) >= (request.runs ?? 1);
          const jobs = planRequest(
            suite,
            request,
            { artifact: artifact(1, "js", "native"), measured: new Map() },
            { artifact: parent, measured },
          );

          const own = jobs.filter(({ purpose }) => purpose === "own");
          const backfill = jobs.filter(({ purpose }) => purpose === "backfill");
          for (const job of backfill) {
            expect(job).toMatchObject({ artifactId: 2, runs: request.runs });
            expect(Object.keys(parent.components)).toContain(job.backend);
            expect(planCases(suite, job).some((each) => !isEnough(caseKey(each)))).toBe(true);
          }
          const filled = new Set(
            backfill.flatMap((job) => planCases(suite, job).map((each) => caseKey(each))),
          );
          const wanted = own
            .filter(({ backend }) => Object.hasOwn(parent.components, backend))
            .flatMap((job) => planCases(suite, job).map((each) => caseKey(each)));
          expect(wanted.every((key) => isEnough(key) || filled.has(key))).toBe(true);
        },
      ),
    );
  });

  test("has pairs only on request, and only for sections with a noisy deciding metric", () => {
    const quiet = aSuite({
      metrics: {
        instructions: {
          take: { from: "instructions" },
          nature: "deterministic",
          unit: "instructions",
        },
        "wall-time": {
          take: { from: "wall-time" },
          nature: "noisy",
          unit: "seconds",
          sections: ["runtime"],
        },
      },
    });
    const sides = [
      { artifact: artifact(1, "js"), measured: new Map<string, number>() },
      { artifact: artifact(2, "js"), measured: new Map<string, number>() },
    ] as const;
    const pairs = (request: Request) =>
      planRequest(quiet, request, ...sides)
        .filter(({ purpose }) => purpose === "paired")
        .map(({ section }) => section);

    expect(pairs(everything)).toEqual([]);
    expect(new Set(pairs({ ...everything, paired: true }))).toEqual(new Set(["runtime"]));
  });

  test("confirms doubtful results slice by slice", () => {
    const doubt = (benchmark: string, profile: string) => ({
      case: {
        section: "compile" as const,
        benchmark,
        profile,
        scenario: "full",
        backend: "js",
        target: "linux-x64",
      },
      metric: "wall-time",
      direction: "regressed" as const,
    });
    const doubts = [doubt("alpha", "check"), doubt("beta", "check"), doubt("gamma", "check")];

    const jobs = confirmingJobs(suite, doubts, 1, 2);

    expect(jobs).toMatchObject([
      { set: 0, benchmarks: ["alpha", "beta"], purpose: "confirm", againstId: 2 },
      { set: 1, benchmarks: ["gamma"], purpose: "confirm", againstId: 2 },
    ]);
    expect(jobs.flatMap((job) => job.doubts ?? [])).toEqual(doubts);
  });
});

describe("two merged requests", () => {
  test("contain both in any order, and adding one of them again adds nothing", () => {
    fc.assert(
      fc.property(someRequest, someRequest, (one, other) => {
        const both = mergeRequests(suite, one, other);
        const cases = new Set(casesOf(both));

        expect([...casesOf(one), ...casesOf(other)].every((key) => cases.has(key))).toBe(true);
        expect(both.runs ?? 0).toBe(Math.max(one.runs ?? 0, other.runs ?? 0));
        expect(isSameRequest(both, mergeRequests(suite, other, one))).toBe(true);
        expect(isSameRequest(both, mergeRequests(suite, both, one))).toBe(true);
        expect(isSameRequest(both, mergeRequests(suite, both, other))).toBe(true);
      }),
    );
  });
});

describe("missing parents", () => {
  const child = { datedAt: new Date("2026-06-30T00:00:00Z") };
  const ancestor = (
    daysBefore: number,
    change: Partial<{ hasResults: boolean; hasRequest: boolean }> = {},
  ) => ({
    id: daysBefore,
    suite: "demo",
    tag: `n-${daysBefore}`,
    kind: "master" as const,
    datedAt: new Date(child.datedAt.getTime() - daysBefore * 86_400_000),
    components: {},
    parentId: null,
    commit: null,
    hasResults: false,
    hasRequest: false,
    ...change,
  });
  const all = () => true;

  test.each([
    { title: "none", line: [], expected: [] },
    {
      title: "those up to one with results",
      line: [ancestor(1), ancestor(2, { hasResults: true }), ancestor(3)],
      expected: [1],
    },
    {
      title: "those up to one that was asked for",
      line: [ancestor(1), ancestor(2), ancestor(3, { hasRequest: true })],
      expected: [1, 2],
    },
    {
      title: "none when the first has results",
      line: [ancestor(1, { hasResults: true }), ancestor(2)],
      expected: [],
    },
    {
      title: "those of 29 days",
      line: [ancestor(1), ancestor(29), ancestor(30)],
      expected: [1, 29],
    },
  ])("are $title", ({ line, expected }) => {
    expect(missingParents(child, line, 29, all).map(({ id }) => id)).toEqual(expected);
  });

  test("are at most thirty, however close together they are", () => {
    const line = Array.from({ length: 50 }, () => ancestor(1));

    expect(missingParents(child, line, 29, all)).toHaveLength(30);
  });
});

describe("the next to start", () => {
  const request = (
    id: string,
    state: "artifacts-ready" | "in-progress" | "waiting-for-artifacts",
  ) => ({
    place: 1,
    because: "",
    request: {
      id,
      kind: "master" as const,
      state,
      pr: null,
      artifactId: 1,
      artifact: id,
      datedAt: new Date(0),
      parentId: null,
      createdAt: new Date(0),
      startedAt: null,
    },
  });
  const slot = { target: "x", set: 0 };
  const other = { target: "x", set: 1 };
  const running = request("r", "in-progress");
  const ready = request("a", "artifacts-ready");

  test.each([
    {
      title: "none when nothing is ready",
      queue: [request("w", "waiting-for-artifacts")],
      atOnce: 1,
      waiting: [],
      starts: undefined,
    },
    {
      title: "the first that is ready",
      queue: [ready, request("b", "artifacts-ready")],
      atOnce: 1,
      waiting: [],
      starts: "a",
    },
    {
      title: "none beside another",
      queue: [running, ready],
      atOnce: 1,
      waiting: [],
      starts: undefined,
    },
    {
      title: "one beside another when a set of its own is idle",
      queue: [running, ready],
      atOnce: 2,
      waiting: [{ ...slot, jobs: 3 }],
      starts: "a",
    },
    {
      title: "none while all its sets have work",
      queue: [running, ready],
      atOnce: 2,
      waiting: [
        { ...slot, jobs: 3 },
        { ...other, jobs: 1 },
      ],
      starts: undefined,
    },
    {
      title: "none above the limit",
      queue: [running, running, ready],
      atOnce: 2,
      waiting: [],
      starts: undefined,
    },
  ])("is $title", ({ queue, atOnce, waiting, starts }) => {
    expect(whichToStart(queue, atOnce, waiting, () => [slot, other])?.id).toBe(starts);
  });
});
