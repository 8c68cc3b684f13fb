import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { tempFileIn } from "#cas/temp-file.ts";
import { isAlive } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { chooseTrim, type KeptBlob, type KeptLayer } from "./choose-trim.ts";
import type { LayerCache } from "./input-root/layer-cache.ts";
import type { LocalStore } from "./local-store.ts";

/** Enough rounds for all layers, a quarter at a time; after them, the remaining layers are in use. */
const mostRounds = 16;

/** The maximum number of plans of input trees, which take some hundred bytes each. */
const mostPlans = 20_000;

/**
 * Brings the store back under its limit.
 *
 * Layers that a living process uses stay. Trimming moves a layer away first and then checks `in-use`, while a user
 * marks first and then looks for the layer: so one of them sees the other.
 */
export async function trimStore(
  dataDir: string,
  local: LocalStore,
  layers: LayerCache,
  limitBytes: number,
  now: Date,
): Promise<void> {
  await layers.unmarkIdle();
  await trimPlans(join(dataDir, "plans"));
  for (let round = 0; round < mostRounds; round++) {
    const inUse = await layersInUse(dataDir);
    const kept = await keptLayers(dataDir, inUse);
    const trim = chooseTrim(await keptBlobs(local), kept, limitBytes, now.getTime());
    await mapAtMost(8, trim.blobs, ({ path }) => rm(path, { force: true }));
    for (const { key } of trim.layers) await removeLayer(dataDir, local, key);
    if (trim.layers.length === 0) return;
  }
}

/** The oldest are removed: a build makes as many as it has actions, and uses few of them again. */
async function trimPlans(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (names.length <= mostPlans) return;
  const plans = await mapAtMost(8, names, async (name) => {
    const found = await lstat(join(directory, name)).catch(() => undefined);
    return { name, madeAtMs: found?.mtimeMs ?? 0 };
  });
  const old = plans.toSorted((a, b) => a.madeAtMs - b.madeAtMs).slice(0, -mostPlans / 2);
  await mapAtMost(8, old, ({ name }) => rm(join(directory, name), { force: true }));
}

async function removeLayer(dataDir: string, local: LocalStore, key: string): Promise<void> {
  const path = join(dataDir, "layers", key);
  const away = tempFileIn(local.tempDirectory);
  await rename(path, away);
  const taken = (await layersInUse(dataDir)).has(key);
  // If it has been built again meanwhile, the rename fails and this copy is dropped.
  const back =
    taken &&
    (await rename(away, path).then(
      () => true,
      () => false,
    ));
  if (!back) await removeTree(away);
}

/** Returns the layers marked by living processes; removes the marks of dead ones. */
async function layersInUse(dataDir: string): Promise<Set<string>> {
  const inUse = new Set<string>();
  for (const name of await readdir(join(dataDir, "in-use"))) {
    const [key = "", owner = ""] = name.split("~");
    if (isAlive(owner)) inUse.add(key);
    else await rm(join(dataDir, "in-use", name), { force: true });
  }
  return inUse;
}

async function keptLayers(dataDir: string, inUse: ReadonlySet<string>): Promise<KeptLayer[]> {
  const keys = await readdir(join(dataDir, "layers"));
  const found = await mapAtMost(8, keys, async (key) => {
    const layer = await lstat(join(dataDir, "layers", key)).catch(() => undefined);
    return layer && { key, usedAtMs: layer.mtimeMs, inUse: inUse.has(key) };
  });
  return found.filter((layer) => layer !== undefined);
}

async function keptBlobs(local: LocalStore): Promise<KeptBlob[]> {
  const shards = await readdir(local.blobsDirectory);
  const perShard = await mapAtMost(4, shards, async (shard) => {
    const names = await readdir(join(local.blobsDirectory, shard));
    return mapAtMost(8, names, async (name) => {
      const path = join(local.blobsDirectory, shard, name);
      const file = await lstat(path).catch(() => undefined);
      if (!file) return undefined;
      return { path, sizeBytes: file.size, links: file.nlink, changedAtMs: file.ctimeMs };
    });
  });
  return perShard.flat().filter((blob) => blob !== undefined);
}
