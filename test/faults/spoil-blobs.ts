import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import fc from "fast-check";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { evictedLogText } from "#server/run-log.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { checkHistory, type Observation, type Violation } from "./history/history.ts";
import { jobsEach, observedLoad, readResult } from "./history/observed-load.ts";

/** What happens to the file of a blob. */
const ways = ["corrupt", "truncated", "missing", "swapped"] as const;
type Way = (typeof ways)[number];

interface SpoiledBlobs {
  readonly violations: readonly Violation[];
  readonly spoiled: number;
  /** Spoiled blobs by what happened to them. */
  readonly by: Readonly<Record<Way, number>>;
  /** The graphs of the same commits that ended otherwise than succeeded after that. */
  readonly notGreen: readonly string[];
}

/**
 * Spoils blobs of a farm at random, and judges what clients are then given: never other bytes than before, and every
 * commit's graph ends green when it is submitted again.
 */
export async function spoilBlobs(options: {
  readonly blobs: number;
  readonly seed: number;
}): Promise<SpoiledBlobs> {
  const farm = await startFarm({ workers: 2 });
  const load = await observedLoad(farm);
  try {
    const directory = join(farm.dataDir, "blobs", "blobs");
    for (let files: string[] = []; files.length < options.blobs; files = await filesIn(directory)) {
      const before = load.graphs.length;
      await load.submitMany(4);
      for (const { id } of load.graphs.slice(before)) await load.readToItsEnd(id);
    }
    const first = [...load.graphs];
    const { hashes, by } = await spoil(await filesIn(directory), options);

    for (const hash of hashes) load.history.push(await readBlob(farm, hash));
    const readBefore = new Map(load.history.flatMap(keyOfResult));
    for (const { id } of first)
      for (let n = 0; n < jobsEach; n++) {
        const now = await readResult(farm, id, `job-${n}`);
        load.history.push(...withoutWhatIsGone(now, readBefore));
      }
    const notGreen = await mapAtMost(4, first, async ({ commit }) => {
      const { id } = await load.submit(commit);
      const graph = await load.readToItsEnd(id);
      return graph?.state === "succeeded" ? [] : [id];
    });
    return {
      violations: checkHistory(load.history),
      spoiled: options.blobs,
      by,
      notGreen: notGreen.flat(),
    };
  } finally {
    await farm.stop();
    await load.remove();
  }
}

async function filesIn(directory: string): Promise<string[]> {
  const shards = await readdir(directory);
  const files = await Promise.all(
    shards.map(async (shard) =>
      (await readdir(join(directory, shard))).map((name) => join(directory, shard, name)),
    ),
  );
  // Nothing can happen to a file without bytes.
  const sizes = await Promise.all(files.flat().map(async (path) => (await stat(path)).size));
  return files
    .flat()
    .filter((_, at) => (sizes[at] ?? 0) > 0)
    .sort();
}

async function spoil(
  files: readonly string[],
  { blobs, seed }: { readonly blobs: number; readonly seed: number },
) {
  const [chosen = []] = fc.sample(
    fc.shuffledSubarray([...files], { minLength: blobs, maxLength: blobs }),
    { numRuns: 1, seed },
  );
  const by = { corrupt: 0, truncated: 0, missing: 0, swapped: 0 };
  for (const [n, path] of chosen.entries()) {
    const way = ways[n % ways.length] ?? "missing";
    await spoilOne(path, way, chosen[(n + 1) % chosen.length] ?? path);
    by[way]++;
  }
  return { by, hashes: chosen.map((path) => basename(path)) };
}

async function spoilOne(path: string, way: Way, other: string): Promise<void> {
  const bytes = await readFile(path);
  switch (way) {
    case "corrupt": {
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      return replace(path, bytes);
    }
    case "truncated":
      return replace(path, bytes.subarray(0, bytes.length >> 1));
    case "swapped": {
      const others = await readFile(other);
      await replace(path, others);
      return replace(other, bytes);
    }
    case "missing":
      return rm(path);
  }
}

/** Files of blobs are read-only: an ordinary user can remove them, and not change them. */
async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await rm(path);
  await writeFile(path, bytes, { mode: 0o444 });
}

async function readBlob(farm: Farm, hash: string): Promise<Observation> {
  const answer = await fetch(`${farm.url}/cache/default/bazel/cas/${hash}`);
  // A body that is cut off is not an answer.
  const bytes = await answer.arrayBuffer().catch(() => undefined);
  if (!answer.ok || bytes === undefined) return { kind: "blob", blob: hash, bytes: "absent" };
  const isWhole = createHash("sha256").update(Buffer.from(bytes)).digest("hex") === hash;
  return { kind: "blob", blob: hash, bytes: isWhole ? "whole" : "other" };
}

type Result = Extract<Observation, { kind: "result" }>;

function keyOfResult(seen: Observation): [string, Result][] {
  return seen.kind === "result" ? [[`${seen.graph} ${seen.job}`, seen]] : [];
}

/**
 * Replaces by the earlier text what the farm does not have any more: it may lose what its disk has lost, and must not
 * give anything else.
 */
function withoutWhatIsGone(now: Observation, before: ReadonlyMap<string, Result>): Observation[] {
  if (now.kind !== "result") return [now];
  const earlier = before.get(`${now.graph} ${now.job}`);
  if (earlier === undefined) return [now];
  const isGone = now.log === new TextDecoder().decode(evictedLogText);
  return [
    {
      ...now,
      log: isGone ? earlier.log : now.log,
      output: now.output ?? earlier.output,
    },
  ];
}
