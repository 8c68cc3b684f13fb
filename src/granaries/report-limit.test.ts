import { afterAll, expect, test } from "vitest";
import { aReport, freshFarmOfGranaries } from "./farm-of-granaries.fixture.ts";
import { listBuilds } from "./granary-build.store.ts";

const farm = await freshFarmOfGranaries({ mostReportsAnHour: 3 });
afterAll(() => farm.stop());

test("reports of a principal are limited per hour, on all servers together", async () => {
  const servers = [farm.open(), farm.open()];
  const tell = async (n: number, who: string) => {
    await servers[n % 2]?.reportBuild(aReport("limited", { branch: who }), who);
  };

  const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => tell(n, "busy")));
  await tell(0, "another");

  const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  expect(refused).toHaveLength(5);
  expect(refused[0]).toMatchObject({ code: "resource_exhausted" });
  const all = { repository: undefined, commit: undefined, after: undefined, limit: 50 };
  const kept = await listBuilds(farm.db, { project: "limited", ...all });
  expect(kept.map(({ branch }) => branch).toSorted()).toEqual(["another", "busy", "busy", "busy"]);
});
