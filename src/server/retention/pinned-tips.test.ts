import { utimes } from "node:fs/promises";
import pino from "pino";
import { afterAll, expect, test } from "vitest";
import { openDiskEviction } from "#cas/disk/disk-eviction.ts";
import { openNamespacedEviction } from "#cas/disk/namespaced-eviction.ts";
import { digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { buildOf, entryOf, freshFarmOfGranaries } from "#granaries/farm-of-granaries.fixture.ts";
import { pinnedBlobs } from "#granaries/pinned-blobs.ts";
import { evict } from "./evict.ts";

const farm = await freshFarmOfGranaries();
const { db } = farm;
afterAll(() => farm.stop());

const pinned = () =>
  pinnedBlobs({
    ...farm,
    logger: pino({ level: "silent" }),
    domain: protectedDomain,
    isProtected: async (_, branch) => branch === "main",
  });

const padded = (name: string) => name.padEnd(4_000, ".");

/** Makes all results and blobs old, as if there had been no request since yesterday. */
async function grownOld(): Promise<void> {
  const disk = await openDiskEviction(farm.directory);
  const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
  for await (const { digest } of disk.list()) {
    await utimes(farm.disk.path(digest), yesterday, new Date("2000-01-01T00:00:00Z"));
  }
  const old = sql`created_at = ${yesterday}, last_used_at = ${yesterday}`;
  await db.run(sql`update cache_entry set ${old}`);
  await db.run(sql`update action_result set ${old}`);
}

test("a protected branch's newest commits stay warm when the store is full, others' results go first", async () => {
  const made = async (n: number, branch: string) => {
    const key = `${branch} ${n}`;
    const told = await farm.aResult("default", key, padded(key));
    const action = await farm.anAction("default", key, {
      stdoutRaw: Buffer.from(padded(`out ${key}`)),
    });
    // The build has requested only the value of the action's result.
    const entries = [entryOf(told), entryOf({ ...action.told, blobs: [] })];
    await farm.publish(buildOf("default", n, { branch }), entries);
    return [told, action.told];
  };
  const old = await made(1, "main");
  const tips = [await made(2, "main"), await made(3, "main"), await made(4, "main")].flat();
  const others = await made(105, "feature");
  await grownOld();
  const services = {
    db,
    blobsOf: farm.blobsOf,
    treesOf: farm.treesOf,
    stored: await openNamespacedEviction(farm.directory),
    pinned,
  };

  const round = await evict(services, 40_000, new Date(), new AbortController().signal);

  expect(round.removedBlobs).toBeGreaterThan(0);
  expect(await farm.granaries.lookUp("default", tips)).toHaveLength(tips.length);
  expect(await farm.granaries.lookUp("default", [...old, ...others])).toEqual([]);
  const [best] = await farm.granaries.resolve(buildOf("default", 5, { branch: "main" }));
  expect(best?.candidate.commit).toBe(buildOf("default", 4).commits[0]);
});

test("environments that somebody makes up pin no more than those of eight", async () => {
  const key = (n: number) => `e ${n}`;
  for (let n = 0; n < 12; n++) {
    const told = await farm.aResult("q", key(n), padded(key(n)));
    await farm.publish(buildOf("q", 1, { branch: "main", environment: `e${n}` }), [entryOf(told)]);
  }
  const named = new Set<string>();
  for await (const { digest } of pinned()) named.add(digestKey(digest));

  const results = await farm.granaries.lookUp(
    "q",
    Array.from({ length: 12 }, (_, n) => ({ namespace: "ccache" as const, key: key(n) })),
  );
  const isPinned = results
    .toSorted((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }))
    .map(({ value }) => named.has(digestKey(value)));
  expect(isPinned).toEqual([...Array(4).fill(false), ...Array(8).fill(true)]);
});
