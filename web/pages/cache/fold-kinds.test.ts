import { expect, test } from "vitest";
import type { CacheUseAnswer } from "#api/cache-use.ts";
import { foldKinds } from "./fold-kinds.ts";

const day = (n: number) => `2026-11-0${n}T00:00:00.000Z`;
const answer: CacheUseAnswer = {
  since: day(1),
  until: "2026-11-03T09:00:00.000Z",
  periodMs: 86_400_000,
  series: [
    {
      kind: "jobs",
      name: "app",
      hits: 1,
      misses: 0,
      periods: [{ at: day(3), hits: 1, misses: 0 }],
    },
    {
      kind: "actions",
      name: "default",
      hits: 3,
      misses: 1,
      periods: [{ at: day(1), hits: 3, misses: 1 }],
    },
    {
      kind: "actions",
      name: "team",
      hits: 0,
      misses: 2,
      periods: [{ at: day(1), hits: 0, misses: 2 }],
    },
  ],
};

test("sums projects by kind, with periods that had no requests", () => {
  expect(foldKinds(answer)).toEqual([
    {
      kind: "actions",
      hits: 3,
      misses: 3,
      periods: [
        { at: day(1), hits: 3, misses: 3 },
        { at: day(2), hits: 0, misses: 0 },
        { at: day(3), hits: 0, misses: 0 },
      ],
    },
    expect.objectContaining({ kind: "jobs", hits: 1, misses: 0 }),
  ]);
});

test("of one project only", () => {
  expect(foldKinds(answer, "team")).toMatchObject([{ kind: "actions", hits: 0, misses: 2 }]);
});
