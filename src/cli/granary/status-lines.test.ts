import { expect, test } from "vitest";
import type { GranaryStatus } from "#granary/protocol/answers.ts";
import { lastWords } from "./start-daemon.ts";
import { aheadLines, statusLines } from "./status-lines.ts";

const standing = (change: Partial<GranaryStatus> = {}): GranaryStatus => ({
  version: "1",
  pid: 1,
  port: 2,
  directory: "/data",
  farm: null,
  store: { results: 0, blobs: 0, bytes: 0, limitBytes: 1024 },
  outbox: { results: 0, indexes: 0, reports: 0, bytes: 0 },
  builds: [],
  ...change,
});
const farm = { server: "http://farm:8980", away: false };
const linesOf = (status: GranaryStatus, configured?: string) =>
  statusLines(status, new Date(0), configured).join("\n");

test("a granary that was started without the farm that is configured now says what to do", () => {
  expect(linesOf(standing(), "http://farm:8980")).toContain("`grange granary stop`");
  expect(linesOf(standing({ farm }), "http://other:8980")).toContain(
    "GRANGE_SERVER is http://other",
  );
  expect(linesOf(standing({ farm }), "http://farm:8980/")).not.toContain("GRANGE_SERVER");
  expect(linesOf(standing({ farm }))).not.toContain("GRANGE_SERVER");
});

test("a farm that does not know the token is told from one that is gone", () => {
  const because = "this farm does not know that token";
  expect(linesOf(standing({ farm: { ...farm, away: true, because } }))).toContain(`(${because})`);
});

test("one of something is not many", () => {
  const outbox = { results: 2, indexes: 1, reports: 1, bytes: 0 };
  expect(linesOf(standing({ outbox }))).toContain("2 results (0 B), 1 index, 1 report");
});

test("what the farm fails to take is said, with its reason", () => {
  const setAside = { results: 1, indexes: 0, reports: 0, because: "a bug" };
  const outbox = { results: 3, indexes: 0, reports: 0, bytes: 0, trouble: "a bug", setAside };
  expect(linesOf(standing({ outbox }))).toContain(
    "of these, set aside: 1 result, 0 indexes, 0 reports",
  );
  expect(linesOf(standing({ outbox }))).toContain("(a bug); sending is tried again each hour");
});

test("who has no farm to ask is not told that there is no index", () => {
  const none = { indexes: [], results: 0, bytes: 0 };
  expect(aheadLines(none, null, true)).toEqual(["this granary has no farm to fetch from"]);
  expect(aheadLines(none, { ...farm, away: true }, true)).toEqual([
    "http://farm:8980 does not answer; see `grange granary status`",
  ]);
  expect(aheadLines(none, farm, true)).toEqual([
    "there is no index of this commit, or of an earlier one",
  ]);
});

test("what a granary said in place of being ready is found in its log", () => {
  const log =
    '{"level":60,"msg":"could not start"}\n{"ready":false,"error":{"message":"port 1"}}\n';
  expect(lastWords(log)).toBe("port 1");
  expect(lastWords('{"ready":true}\n')).toBeUndefined();
  expect(lastWords('{"ready":false,')).toBeUndefined();
});

test("the store's size on disk stands beside what its limit is for", () => {
  const store = { results: 1, blobs: 1, bytes: 1024, diskBytes: 1536, limitBytes: 2048 };
  expect(linesOf(standing({ store }))).toContain("1 KiB of 2 KiB; on disk 1.5 KiB");
});

test("what the disk cost is told, with the reason and since when", () => {
  const diskTrouble = {
    refusedWrites: 40,
    removedBytes: 2048,
    because: "no space is left in /data",
    lastAt: new Date(-5_000).toISOString(),
  };
  const store = { results: 0, blobs: 0, bytes: 0, limitBytes: 1024, diskTrouble };
  expect(linesOf(standing({ store }))).toContain(
    "disk: 40 writes failed, 2 KiB removed to free disk space since the granary was started, the last 5.0 s ago: no space is left in /data;",
  );
});
