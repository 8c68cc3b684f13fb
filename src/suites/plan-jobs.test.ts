import { describe, expect, test } from "vitest";
import { caseKey } from "#core/test-case.ts";
import { categoryOf } from "./category-of.ts";
import { metricsOf } from "./metrics-of.ts";
import { planCases } from "./plan-cases.ts";
import { type PlannedJob, planJobs, type WhatToMeasure } from "./plan-jobs.ts";
import { smallSuite } from "./suite.fixture.ts";

const suite = smallSuite();
const all: WhatToMeasure = {
  backends: [],
  profiles: [],
  targets: [],
  benchmarks: [],
  available: ["js", "native", "slow"],
};

function text({
  section,
  target,
  backend,
  profile,
  set,
  benchmarks,
  optional,
}: PlannedJob): string {
  return `${section} ${target} ${backend} ${profile || "-"} ${set} ${benchmarks.join("+") || "*"}${optional ? " optional" : ""}`;
}

describe("jobs", () => {
  const planned = (asked: Partial<WhatToMeasure>) =>
    planJobs(suite, { ...all, ...asked }).map(text);

  test("are one for each section, target, backend, profile and set, with the suite's defaults", () => {
    expect(planned({ targets: ["linux-x64"], available: ["native"] })).toEqual([
      "compile linux-x64 native check 0 *",
      "compile linux-x64 native check 1 *",
      "compile linux-x64 native emit 0 *",
      "compile linux-x64 native emit 1 *",
      "runtime linux-x64 native - 0 *",
      "toolchain linux-x64 native - 0 *",
    ]);
  });

  test("leave out backends that the artifact lacks or that were not requested, and mark optional targets", () => {
    const found = planned({ profiles: ["emit"] });

    expect(found).toContain("compile linux-arm64 js emit 0 * optional");
    expect(found.filter((job) => / slow /.test(job))).toEqual([]);
    expect(planned({ available: [] })).toEqual([]);
    expect(planned({ backends: ["slow"], profiles: ["rare"] })).toContain(
      "compile linux-x64 slow rare 0 *",
    );
  });

  test("contain the requested benchmarks; a whole set is always written in the same way", () => {
    expect(
      planned({ targets: ["linux-x64"], available: ["native"], benchmarks: ["b", "a", "load"] }),
    ).toEqual([
      "compile linux-x64 native check 0 a",
      "compile linux-x64 native check 1 *",
      "compile linux-x64 native emit 0 a",
      "compile linux-x64 native emit 1 *",
      "toolchain linux-x64 native - 0 *",
    ]);
  });

  test("contain each case exactly once together", () => {
    const jobs = planJobs(suite, {
      ...all,
      profiles: ["check", "emit", "rare"],
      backends: ["js", "native", "slow"],
    });
    const keys = jobs.flatMap((job) => planCases(suite, job)).map(caseKey);

    expect(new Set(keys).size).toBe(keys.length);
    // Two targets: (a full, b full and patched) x 3 backends x 3 profiles, c once, and a loop and a load of each
    // backend.
    expect(keys.length).toBe(2 * (3 * 3 * 3 + 1 + 3 + 3));
  });
});

describe("cases", () => {
  const slice = {
    section: "compile",
    target: "linux-x64",
    backend: "js",
    profile: "check",
    set: 0,
    benchmarks: [],
  } as const;

  test("have a scenario with a patch only if the benchmark has the patch", () => {
    expect(
      planCases(suite, slice).map(({ benchmark, scenario }) => `${benchmark} ${scenario}`),
    ).toEqual(["a full"]);
    expect(planCases(suite, { ...slice, set: 1 }).map(({ scenario }) => scenario)).toEqual([
      "full",
      "patched",
    ]);
  });

  test.each([
    { profile: "none" },
    { profile: "" },
    { backend: "constructor" },
    { target: "toString" },
    { set: 7 },
  ])("there are none for $profile$backend$target$set", (change) => {
    expect(planCases(suite, { ...slice, ...change })).toEqual([]);
  });
});

test("metrics: the headline, then those that decide, then the others", () => {
  expect(metricsOf(suite).map(({ name }) => name)).toEqual(["instructions", "files", "wall-time"]);
});

test("a benchmark that no longer exists is not primary", () => {
  const category = (benchmark: string) => categoryOf(suite, { section: "compile", benchmark });

  expect([category("a"), category("b"), category("constructor")]).toEqual([
    "primary",
    "secondary",
    "secondary",
  ]);
});
