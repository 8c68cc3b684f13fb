import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Namespace } from "#commit-index/result-key.ts";
import { digestKey, parseDigestKey } from "#core/digest.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type WorkingSet, type WorkingSetResult, workingSet } from "./working-set.ts";

const File = z.object({
  version: z.literal(1),
  results: z.array(
    z.object({
      n: Namespace,
      k: z.string(),
      at: z.number(),
      cost: z.number().optional(),
      inputs: z.array(z.string()).optional(),
      place: z.string().optional(),
      blobs: z.array(z.string()),
    }),
  ),
});

/** The number of workspaces whose outputs are remembered; the one with the oldest build is dropped. */
const mostWorkspaces = 64;
/**
 * The limit for the results of one workspace. A larger build requests everything from its cache anyway, so its own
 * requests are enough for its index.
 */
const mostResults = 50_000;

export interface WorkspaceMemory {
  /**
   * Returns the results that the workspace needs after a build that requested `now`. `remembered`: for the next build.
   */
  after(
    facts: BuildFacts,
    now: readonly WorkingSetResult[],
  ): Promise<WorkingSet & { readonly remembered: Promise<void> }>;
}

/**
 * Opens the record of the workspaces of this machine, with a file for each and its build. Without it, only the requests
 * of each build count.
 */
export function openWorkspaceMemory(directory: string): WorkspaceMemory {
  return {
    async after(facts, now) {
      const done = Promise.resolve();
      if (facts.root === undefined) return { results: now, isWhole: true, remembered: done };
      const path = join(directory, `${nameOf(facts, facts.root)}.json`);
      const before = await read(path).catch(() => []);
      const whole = workingSet(before, now);
      const isNew = now.length > 0 && whole.results.length <= mostResults;
      // If the disk is full, only the data for the next build is lost.
      const remembered = isNew ? write(directory, path, whole.results).catch(() => {}) : done;
      return { ...whole, remembered };
    },
  };
}

/**
 * Returns a name that differs for other targets or another compiler, because the tool's records then concern something
 * else.
 */
function nameOf({ project, command, targets, environment }: BuildFacts, root: string): string {
  const text = JSON.stringify([project, root, command, targets, environment]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

async function read(path: string): Promise<WorkingSetResult[]> {
  const { results } = File.parse(JSON.parse(await readFile(path, "utf8")));
  return results.map(({ n, k, at, cost, inputs, place, blobs }) => ({
    entry: {
      namespace: n,
      key: k,
      blobs: blobs.map(parseDigestKey),
      firstMs: at,
      savedMs: cost,
      inputs,
    },
    place,
  }));
}

async function write(
  directory: string,
  path: string,
  results: readonly WorkingSetResult[],
): Promise<void> {
  const file: z.input<typeof File> = {
    version: 1,
    results: results.map(({ entry, place }) => ({
      n: entry.namespace,
      k: entry.key,
      at: entry.firstMs,
      cost: entry.savedMs,
      inputs: entry.inputs === undefined ? undefined : [...entry.inputs],
      place,
      blobs: entry.blobs.map(digestKey),
    })),
  };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Two builds of one workspace may end at once: the later one counts.
  const mine = `${path}.${randomUUID()}`;
  await writeFile(mine, JSON.stringify(file), { mode: 0o600 });
  await rename(mine, path);
  const names = await readdir(directory);
  if (names.length <= mostWorkspaces) return;
  const ages = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(directory, name))).mtimeMs })),
  );
  const oldest = ages.sort((a, b) => a.at - b.at).slice(0, names.length - mostWorkspaces);
  for (const { name } of oldest) await rm(join(directory, name), { force: true });
}
