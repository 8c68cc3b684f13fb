import { afterAll, expect, test } from "vitest";
import { buildOf, entryOf, freshFarmOfGranaries, sha } from "./farm-of-granaries.fixture.ts";
import type { IndexedBuild } from "./indexed-build.ts";

const farm = await freshFarmOfGranaries();
afterAll(() => farm.stop());

/** A clone as on CI: with a detached HEAD and without ancestors. */
const freshClone = (project: string, more: Partial<IndexedBuild> = {}): IndexedBuild => ({
  ...buildOf(project, 99, more),
  commits: [sha(99)],
});

async function told(project: string, n: number, branch: string, isComplete = true) {
  const result = await farm.aResult(project, `k${n}`);
  const { index } = await farm.publish(buildOf(project, n, { branch }), [entryOf(result)], {
    isComplete,
  });
  if (index === undefined) throw new Error("no index was made");
  return index;
}

const chosen = async (build: IndexedBuild) =>
  (await farm.granaries.resolve(build)).map(
    ({ candidate, source }) => `${source} ${Number(`0x${candidate.commit}`)}`,
  );

test("a build without nearer indexes gets the newest of the repository, complete ones first", async () => {
  await told("newest", 1, "main");
  await told("newest", 2, "feature");
  await told("newest", 3, "other", false);

  expect(await chosen(freshClone("newest"))).toEqual(["repository 2"]);
  expect(await chosen(freshClone("newest", { branch: "main" }))).toEqual(["branch 1"]);
  expect(await chosen(freshClone("newest", { environment: "e2" }))).toEqual([]);
  expect(await chosen(freshClone("newest", { repository: "another" }))).toEqual([]);
  expect(await chosen({ ...freshClone("newest"), commits: [] })).toEqual([]);
});

test("an index with a lost blob is skipped", async () => {
  await told("lost", 1, "main");
  const lost = await told("lost", 2, "main");
  await farm.disk.remove(lost);

  expect(await chosen(freshClone("lost"))).toEqual(["repository 1"]);
});
