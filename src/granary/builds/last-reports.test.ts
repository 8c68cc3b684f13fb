import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshDirectory, silentLogger } from "../store/granary-store.fixture.ts";
import { someFacts } from "./build-facts.fixture.ts";
import { openLastReports } from "./last-reports.ts";
import { reportOf } from "./report.ts";

const facts = someFacts();

function endedAt(second: number) {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  return reportOf(facts, [], {
    id: `00000000-0000-4000-8000-0000000000${String(second).padStart(2, "0")}`,
    startedAt: at,
    endedAt: at,
    exitCode: 0,
    indexes: [],
    transferred: { blobs: [], truncated: [] },
    uploadedBytes: 0,
    truncated: [],
  });
}

test("the last twenty builds are kept, the latest first, also across restarts", async () => {
  const directory = join(await freshDirectory(), "reports");
  const first = openLastReports(directory, silentLogger);
  for (let second = 0; second < 25; second++) first.keep(endedAt(second));
  await first.stop();
  await writeFile(join(directory, "broken.json"), "{");

  const found = await openLastReports(directory, silentLogger).all();

  expect(found.map(({ endedAt }) => new Date(endedAt).getUTCSeconds())).toEqual(
    Array.from({ length: 20 }, (_, n) => 24 - n),
  );
  expect(await readdir(directory)).toHaveLength(21);
});

test("a build that ended while the clock was ahead does not stay the last", async () => {
  const directory = join(await freshDirectory(), "reports");
  const reports = openLastReports(directory, silentLogger);
  for (const second of [59, 1, 2]) reports.keep(endedAt(second));
  await reports.stop();

  const next = openLastReports(directory, silentLogger);
  for (let second = 3; second < 23; second++) next.keep(endedAt(second));

  const seconds = (await next.all()).map((one) => new Date(one.endedAt).getUTCSeconds());
  expect(seconds).toEqual(Array.from({ length: 20 }, (_, n) => 22 - n));
});

test("reports that were named by times are older than all others", async () => {
  const directory = join(await freshDirectory(), "reports");
  await mkdir(directory);
  for (const second of [58, 59]) {
    const report = endedAt(second);
    const name = `${report.endedAt.replaceAll(":", "-")} ${report.id}.json`;
    await writeFile(join(directory, name), JSON.stringify(report));
  }
  const reports = openLastReports(directory, silentLogger);
  reports.keep(endedAt(1));

  const seconds = (await reports.all()).map((one) => new Date(one.endedAt).getUTCSeconds());
  expect(seconds).toEqual([1, 59, 58]);
});

test("when nothing can be stored, there are no reports and no errors", async () => {
  const file = join(await freshDirectory(), "file");
  await writeFile(file, "");
  const reports = openLastReports(file, silentLogger);

  reports.keep(endedAt(1));

  expect(await reports.all()).toEqual([]);
});
