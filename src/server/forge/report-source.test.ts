import { beforeEach, expect, test } from "vitest";
import { aLine, nth, storeLine } from "#perf/history/history.fixture.ts";
import { emptyLab, labEpoch, storeRequest } from "#perf/perf.fixture.ts";
import { makeReport } from "#perf/reports/make-report.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { reportSource } from "./report-source.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));
const source = reportSource("https://farm.test/");

test("a request is told with its report, and its version changes when that is there", async () => {
  const line = await aLine(db, 2);
  await storeLine(db, line, [1_000, 1_100]);
  const id = await storeRequest(db, { artifact: nth(line, 2), parent: nth(line, 1) });
  const subject = [{ kind: "request" as const, id }];
  const before = await source.versions(db, subject);
  expect((await source.request(db, id))?.report).toBeUndefined();

  await db.transaction((tx) => makeReport(tx, id, labEpoch));

  expect(await source.request(db, id)).toMatchObject({
    id,
    suite: "demo",
    artifact: "n2",
    url: `https://farm.test/benchmarks/requests/${id}`,
    report: { direction: "regression" },
  });
  expect((await source.versions(db, subject)).get(id)).not.toBe(before.get(id));
});

test("what is not there is told as that", async () => {
  const id = "11111111-1111-4111-8111-111111111111";

  expect(await source.request(db, id)).toBeUndefined();
  expect(await source.graph(db, id)).toBeUndefined();
  expect(
    await source.versions(db, [
      { kind: "graph", id },
      { kind: "request", id },
    ]),
  ).toEqual(new Map());
});
