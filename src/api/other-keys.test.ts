import { expect, test } from "vitest";
import type { GranaryBuildReport } from "./granary.ts";
import { otherKeys } from "./other-keys.ts";

type Told = Parameters<typeof otherKeys>[0];

const index: GranaryBuildReport["indexes"][number] = {
  source: "commit",
  commit: "a".repeat(40),
  distance: 0,
  entries: 280,
  complete: true,
};

function told(change: Partial<Told> = {}, namespace = "ccache"): Told {
  return {
    indexes: [index],
    counts: { local: 0, prefetched: 0, fetched: 0, missed: 280, unreachable: 0 },
    bytes: { local: 0, prefetched: 0, fetched: 0, transferred: 492, wasted: 466, uploaded: 0 },
    asked: [
      {
        namespace,
        key: "k",
        source: "missed",
        because: "never-made",
        atMs: 1,
        bytes: 0,
        leadMs: null,
        waitedMs: 0,
        savedMs: null,
      },
    ],
    ...change,
  };
}

test("a build that makes all anew beside what was fetched for it has other keys", () => {
  expect(otherKeys(told())).toBe("ccache");
  expect(otherKeys(told({}, "nx"))).toBe("other");
});

test.each<[string, Partial<Told>]>([
  ["no index told of these sources", { indexes: [] }],
  ["the index was of other sources", { indexes: [{ ...index, distance: 7 }] }],
  [
    "half of it was there",
    { counts: { local: 140, prefetched: 0, fetched: 0, missed: 140, unreachable: 0 } },
  ],
  [
    "the farm was away",
    { counts: { local: 0, prefetched: 0, fetched: 0, missed: 0, unreachable: 280 } },
  ],
  [
    "nothing was fetched ahead",
    { bytes: { local: 0, prefetched: 0, fetched: 0, transferred: 0, wasted: 0, uploaded: 0 } },
  ],
  [
    "there were a few results only",
    { counts: { local: 0, prefetched: 0, fetched: 0, missed: 2, unreachable: 0 } },
  ],
])("nothing is said of keys where %s", (_, change) => {
  expect(otherKeys(told(change))).toBeUndefined();
});
