import { expect, test } from "vitest";
import { joinedHistory } from "./joined-history.ts";
import type { KeyHistory } from "./key-history.ts";
import { historySize, type PastRun } from "./past-run.ts";

const ran = (durationMs: number): PastRun => ({
  end: "succeeded",
  durationMs,
  timeoutMs: 60_000,
  at: 1,
});
const history = (more: Partial<KeyHistory>): KeyHistory => ({
  key: "a.one",
  level: "action",
  runs: new Map(),
  lastFailureAt: undefined,
  failuresInARow: 0,
  pageRank: new Map(),
  ...more,
});

test("a key without own runs uses those that all may read, and the reverse", () => {
  const known = history({ failuresInARow: 3 });

  expect(joinedHistory(undefined, known)).toBe(known);
  expect(joinedHistory(known, undefined)).toBe(known);
  expect(joinedHistory(undefined, undefined)).toBeUndefined();
});

test("own runs come after those that all may read, class by class, the last ones of both", () => {
  const shared = history({
    runs: new Map([
      [1, [ran(1), ran(2)]],
      [4, [ran(3)]],
    ]),
  });
  const own = history({
    runs: new Map([
      [1, [ran(4)]],
      [2, [ran(5)]],
    ]),
  });

  const { runs } = joinedHistory(own, shared) ?? history({});

  expect(new Map([...runs].map(([size, its]) => [size, its.map((run) => run.durationMs)]))).toEqual(
    new Map([
      [1, [1, 2, 4]],
      [4, [3]],
      [2, [5]],
    ]),
  );
  const many = history({ runs: new Map([[1, Array.from({ length: historySize }, () => ran(9))]]) });
  expect(
    joinedHistory(own, many)
      ?.runs.get(1)
      ?.map((run) => run.durationMs),
  ).toEqual([...Array<number>(historySize - 1).fill(9), 4]);
});

test("a key's own failures and ranks count, if there are any", () => {
  const shared = history({ failuresInARow: 5, lastFailureAt: 50, pageRank: new Map([[1, 0.5]]) });

  expect(joinedHistory(history({ lastFailureAt: 60 }), shared)).toMatchObject({
    failuresInARow: 0,
    lastFailureAt: 60,
    pageRank: new Map([[1, 0.5]]),
  });
  expect(joinedHistory(history({}), shared)).toMatchObject({ lastFailureAt: 50 });
});
