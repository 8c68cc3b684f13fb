import { afterAll, expect, test } from "vitest";
import { protectedDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { newestIndexes } from "./commit-index.store.ts";
import { deleteOldGranaryBuilds, deleteUnusedIndexes } from "./delete-unused.ts";
import {
  aReport,
  buildOf,
  entryOf,
  freshFarmOfGranaries,
  sha,
} from "./farm-of-granaries.fixture.ts";
import { buildWithId, listBuilds, savingsSince } from "./granary-build.store.ts";

const farm = await freshFarmOfGranaries();
const { db } = farm;
afterAll(() => farm.stop());

const longAgo = new Date("2026-01-01T00:00:00Z");
const before = new Date("2026-06-01T00:00:00Z");

async function indexesOf(project: string, branches: readonly string[]) {
  const entry = entryOf(await farm.aResult(project, "k"));
  for (const [i, branch] of branches.entries()) {
    await farm.publish(buildOf(project, i + 1, { branch, repository: "r" }), [entry]);
  }
}
const left = async (project: string) =>
  (await newestIndexes(db, { project, domain: protectedDomain }, 100))
    .map(({ commit }) => commit)
    .sort();
const grow = (project: string) =>
  db.run(sql`update commit_index set last_used_at = ${longAgo} where project = ${project}`);

test("unused indexes are removed, except the newest three of a protected branch", async () => {
  await indexesOf("old", ["main", "main", "main", "main", "topic", ""]);
  await grow("old");
  const asked: string[] = [];

  const forgotten = await deleteUnusedIndexes(db, before, async (repository, branch) => {
    asked.push(`${repository} ${branch}`);
    return branch === "main";
  });

  expect(forgotten).toBe(3);
  expect(await left("old")).toEqual([sha(2), sha(3), sha(4)]);
  expect(asked.sort()).toEqual(["r main", "r topic"]);
});

test("an index that serves a build is kept", async () => {
  await indexesOf("used", ["main", "main"]);
  await grow("used");

  await farm.granaries.resolve({ ...buildOf("used", 1), repository: "r" });
  await deleteUnusedIndexes(db, before, async () => false);

  expect(await left("used")).toEqual([sha(1)]);
});

test("a build is stored once, listed with others, and removed after its time", async () => {
  const reports = ["01", "02", "03"].map((day) =>
    aReport("builds", {
      startedAt: `2026-11-${day}T10:00:00.000Z`,
      endedAt: `2026-11-${day}T10:01:00.000Z`,
      ...(day === "03" ? { commit: sha(3) } : {}),
    }),
  );
  for (const report of [...reports, ...reports]) await farm.granaries.reportBuild(report, "p");
  const list = { project: "builds", repository: undefined, commit: undefined, limit: 2 };

  const first = await listBuilds(db, { ...list, after: undefined });
  const rest = await listBuilds(db, { ...list, after: first.at(-1)?.id });
  const ofCommit = await listBuilds(db, { ...list, commit: sha(3), after: undefined });

  const ids = reports.map(({ id }) => id);
  expect([...first, ...rest].map(({ id }) => id)).toEqual(ids.toReversed());
  expect(ofCommit).toHaveLength(1);
  expect(await buildWithId(db, ids[0] ?? "")).toEqual(reports[0]);
  expect(await savingsSince(db, "builds", new Date("2026-11-02T00:00:00Z"))).toEqual(
    ["2026-11-03", "2026-11-02"].map((day) => ({
      day,
      builds: 1,
      asked: 15,
      hits: 6,
      prefetched: 2,
      savedMs: 8_000,
      waitedMs: 7,
      transferredBytes: 40,
      wastedBytes: 5,
    })),
  );

  await deleteOldGranaryBuilds(db, new Date("2026-11-02T12:00:00Z"));
  expect((await listBuilds(db, { ...list, after: undefined })).map(({ id }) => id)).toEqual([
    ids[2],
  ]);
});
