import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { LateBecause, ResultSource } from "#api/granary.ts";
import { keyText, Namespace } from "#commit-index/result-key.ts";
import { DigestText, digestKey } from "#core/digest.ts";
import { BuildFacts } from "./build-facts.ts";
import type { Demand, Demanded } from "./demand.ts";

/** A crash loses what a build asked for in this time, no more. */
const flushMs = 1_000;
/** A log of more is not read again after a crash: nobody's build is that large. */
const mostLogBytes = 512 * 1024 * 1024;

const Head = z.object({
  version: z.literal(1),
  id: z.uuid(),
  startedAt: z.iso.datetime(),
  facts: BuildFacts,
});

const Line = z
  .object({
    n: Namespace,
    k: z.string(),
    at: z.number(),
    from: ResultSource,
    why: LateBecause.optional(),
    waited: z.number().default(0),
    lead: z.number().optional(),
    made: z.boolean().default(false),
    value: DigestText.optional(),
    blobs: z.array(DigestText).default([]),
    cost: z.number().optional(),
    inputs: z.array(z.string()).optional(),
  })
  .transform(
    (line): Demanded => ({
      key: { namespace: line.n, key: line.k },
      atMs: line.at,
      source: line.from,
      because: line.why,
      waitedMs: line.waited,
      leadMs: line.lead,
      made: line.made,
      value: line.value,
      blobs: line.blobs,
      costMs: line.cost,
      inputs: line.inputs,
    }),
  );

export interface DemandLog {
  /** Writes what is new, and no more from then on. */
  close(): Promise<void>;
  /** For when all that follows from it is durable elsewhere. */
  remove(): Promise<void>;
}

/** A build that was under way when its daemon died. */
export interface InterruptedBuild {
  readonly id: string;
  readonly startedAt: Date;
  /** When it was last heard of. */
  readonly endedAt: Date;
  readonly facts: BuildFacts;
  readonly demand: readonly Demanded[];
  remove(): Promise<void>;
}

/** Writes down what a build asks for while it runs: so that its index survives this process. */
export async function openDemandLog(
  directory: string,
  build: { readonly id: string; readonly startedAt: Date; readonly facts: BuildFacts },
  demand: Demand,
  onFailed: (reason: unknown) => void,
): Promise<DemandLog> {
  const path = logPath(directory, build.id);
  const head: z.input<typeof Head> = {
    version: 1,
    id: build.id,
    startedAt: build.startedAt.toISOString(),
    facts: build.facts,
  };
  let isThere = true;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(path, `${JSON.stringify(head)}\n`, { flag: "wx", mode: 0o600 });
  } catch (reason) {
    // A full disk, say: the build can do without, and be given what is here.
    isThere = false;
    await rm(path, { force: true }).catch(() => {});
    onFailed(reason);
  }
  let writing: Promise<void> = Promise.resolve();

  const flush = () => {
    const lines = demand.changed();
    if (!isThere || lines.length === 0) return writing;
    const text = lines.map((one) => `${lineOf(one)}\n`).join("");
    // A full disk costs the index of a crash that may never come.
    writing = writing.then(() => appendFile(path, text)).catch(() => {});
    return writing;
  };
  const timer = setInterval(() => void flush(), flushMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      await flush();
    },
    async remove() {
      clearInterval(timer);
      await writing;
      await rm(path, { force: true });
    },
  };
}

/** What builds had asked for when the daemon that served them died. What cannot be read is removed. */
export async function* interruptedBuilds(directory: string): AsyncGenerator<InterruptedBuild> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.endsWith(".demand")) continue;
    const path = join(directory, name);
    const remove = () => rm(path, { force: true });
    const read = await readLog(path).catch(() => undefined);
    if (read === undefined) await remove();
    else yield { ...read, remove };
  }
}

async function readLog(path: string): Promise<Omit<InterruptedBuild, "remove"> | undefined> {
  const { size, mtime } = await stat(path);
  if (size > mostLogBytes) return undefined;
  const [first = "", ...lines] = (await readFile(path, "utf8")).split("\n");
  const head = Head.parse(JSON.parse(first));
  const demand = new Map<string, Demanded>();
  for (const line of lines) {
    const one = demandedIn(line);
    // A later line of the same result says all that the earlier one did, and more.
    if (one !== undefined) demand.set(keyText(one.key), one);
  }
  const startedAt = new Date(head.startedAt);
  const endedAt = mtime > startedAt ? mtime : startedAt;
  return { id: head.id, startedAt, endedAt, facts: head.facts, demand: [...demand.values()] };
}

/** Undefined: not a whole line, as the last one may be. */
function demandedIn(line: string): Demanded | undefined {
  try {
    return Line.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function lineOf(one: Demanded): string {
  const line: z.input<typeof Line> = {
    n: one.key.namespace,
    k: one.key.key,
    at: one.atMs,
    from: one.source,
    why: one.because,
    waited: one.waitedMs,
    lead: one.leadMs,
    made: one.made,
    value: one.value && digestKey(one.value),
    blobs: one.blobs.map(digestKey),
    cost: one.costMs,
    inputs: one.inputs === undefined ? undefined : [...one.inputs],
  };
  return JSON.stringify(line);
}

function logPath(directory: string, id: string): string {
  return join(directory, `${id}.demand`);
}
