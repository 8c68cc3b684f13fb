import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { costCapOf, jobLimits, requestedTooMuch } from "./job-limits.ts";
import type { Grant } from "./principal.ts";

const plain: Grant = {
  verb: "submit",
  repository: "*",
  branch: "*",
  priorityCap: null,
  top: false,
};
const on = { repository: "rxjs", branch: "main" };
const alice = (...grants: Grant[]) => ({ name: "alice", grants });

describe("what a job may ask for", () => {
  test.each<[string, Partial<Grant>, Record<string, string>, string | undefined]>([
    ["any pool", {}, { pool: "release" }, undefined],
    ["a pool of the pattern", { pool: "ci-*" }, { pool: "ci-linux" }, undefined],
    ["no other pool", { pool: "ci-*" }, { pool: "release" }, "the pool release"],
    ["not the pool of those that name none", { pool: "ci-*" }, {}, "the pool default"],
    ["a class up to the cap", { sizeClassCap: 4 }, { "size-class": "4" }, undefined],
    ["no class above", { sizeClassCap: 4 }, { "size-class": "8" }, "size-class 8"],
    ["nor above by a range", { sizeClassCap: 4 }, { "max-size-class": "5" }, "max-size-class 5"],
    ["labels of its patterns", { label: "OS*=*, gpu=no" }, { OSFamily: "linux" }, undefined],
    ["no other label", { label: "OSFamily=*" }, { gpu: "yes" }, "gpu=yes"],
    ["instructions are no labels", { label: "OSFamily=*" }, { network: "yes" }, undefined],
  ])("%s", (_, limit, platform, expected) => {
    expect(requestedTooMuch(platform, [{ ...plain, ...limit }])).toBe(expected);
  });

  test("is what one grant allows, not what two allow apart", () => {
    const [small, release] = [
      { ...plain, pool: "ci", sizeClassCap: 8 },
      { ...plain, pool: "release", sizeClassCap: 1 },
    ];

    expect(
      requestedTooMuch({ pool: "release", "size-class": "8" }, [small, release]),
    ).toBeDefined();
    expect(requestedTooMuch({ pool: "release" }, [small, release])).toBeUndefined();
  });

  test("has no limit where one grant has none", () => {
    const narrow = { ...plain, pool: "ci" };

    expect(jobLimits(alice(narrow), "submit", on)).toEqual([narrow]);
    expect(jobLimits(alice(narrow, plain), "submit", on)).toBeUndefined();
    expect(jobLimits(alice(narrow, { ...plain, verb: "cancel" }), "submit", on)).toEqual([narrow]);
  });

  test("never grows by a narrower grant", () => {
    const grants = fc.record({
      pool: fc.constantFrom(undefined, "ci", "*"),
      sizeClassCap: fc.constantFrom(undefined, 1, 4),
    });
    const platforms = fc.record({
      pool: fc.constantFrom("ci", "release"),
      "size-class": fc.constantFrom("1", "4", "8"),
    });
    fc.assert(
      fc.property(grants, platforms, ({ pool, sizeClassCap }, platform) => {
        const wide: Grant = { ...plain, ...(pool === undefined ? {} : { pool }) };
        const narrow: Grant = { ...wide, ...(sizeClassCap === undefined ? {} : { sizeClassCap }) };
        const isAllowed = (grant: Grant) => requestedTooMuch(platform, [grant]) === undefined;
        expect(isAllowed(narrow) && !isAllowed(wide)).toBe(false);
      }),
    );
  });
});

test.each<[string, Grant[], number | undefined]>([
  [
    "is the highest",
    [
      { ...plain, costCap: 10 },
      { ...plain, costCap: 90 },
    ],
    90,
  ],
  ["is none where one grant has none", [{ ...plain, costCap: 10 }, plain], undefined],
  ["is of the grants that hold there", [{ ...plain, costCap: 10, branch: "try" }], undefined],
])("a cap on cost %s", (_, grants, expected) => {
  expect(costCapOf(alice(...grants), "submit", on)).toBe(expected);
});
