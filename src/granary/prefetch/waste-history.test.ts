import { expect, test } from "vitest";
import { afterBuild, noRecord, shouldPrefetch, type WasteRecord } from "./waste-history.ts";

function after(wasted: readonly number[], before: WasteRecord = noRecord): WasteRecord {
  return wasted.reduce(
    (record, waste) => afterBuild(record, { transferred: 100, wasted: waste }),
    before,
  );
}

test("after five builds with mostly unused data, prefetching stops for ten builds", () => {
  expect(shouldPrefetch(after([90, 90, 90, 90]))).toBe(true);
  let record = after([90, 90, 90, 90, 10]);
  expect(shouldPrefetch(record)).toBe(false);
  for (let i = 0; i < 10; i++) {
    expect(shouldPrefetch(record)).toBe(false);
    record = afterBuild(record, "skipped");
  }
  expect(shouldPrefetch(record)).toBe(true);
  expect(shouldPrefetch(after([90], record))).toBe(false);
  expect(shouldPrefetch(after([0, 0], record))).toBe(true);
});

test("builds that found everything locally do not count", () => {
  const record = after([90, 90, 90, 90, 90]);
  expect(afterBuild(record, { transferred: 0, wasted: 0 })).toEqual(record);
});
