import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { LateReason, ResultSource } from "#api/granary.ts";
import { keyText, Namespace } from "#commit-index/result-key.ts";
import { DigestText, digestKey } from "#core/digest.ts";
import type { BuildAccesses, ResultAccess } from "./build-accesses.ts";
import { BuildFacts, mostNested, NestedRepository } from "./build-facts.ts";

/** The interval at which the log is written; a crash loses at most the requests of this time. */
const flushMs = 1_000;
/** A larger log is not read after a crash, because no real build has such a large one. */
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
    why: LateReason.optional(),
    waited: z.number().default(0),
    lead: z.number().optional(),
    made: z.boolean().default(false),
    value: DigestText.optional(),
    blobs: z.array(DigestText).default([]),
    cost: z.number().optional(),
    inputs: z.array(z.string()).optional(),
    of: z.number().int().min(1).max(mostNested).optional(),
  })
  .transform(
    (line): ResultAccess => ({
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
      repository: line.of,
    }),
  );

/** Written when a tool reports the nested repositories after the build has begun. */
const NestedLine = z.object({ nested: z.array(NestedRepository).max(mostNested) });

export interface AccessLog {
  /** Records the nested repositories, which were unknown when the build began. */
  nested(repositories: readonly NestedRepository[]): void;
  /** Writes all pending lines, and stops. */
  close(): Promise<void>;
  /** Removes the log, once index and report are durable in the outbox. */
  remove(): Promise<void>;
}

/** A build that was running when its daemon died. */
export interface InterruptedBuild {
  readonly id: string;
  readonly startedAt: Date;
  /** The time of its last log entry. */
  readonly endedAt: Date;
  readonly facts: BuildFacts;
  readonly accesses: readonly ResultAccess[];
  remove(): Promise<void>;
}

/** Opens the log of a build's requests, from which the next daemon makes the index if this process dies. */
export async function openAccessLog(
  directory: string,
  build: { readonly id: string; readonly startedAt: Date; readonly facts: BuildFacts },
  accesses: BuildAccesses,
  onFailed: (reason: unknown) => void,
): Promise<AccessLog> {
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
    // For example because of a full disk; the build then runs without a log.
    isThere = false;
    await rm(path, { force: true }).catch(() => {});
    onFailed(reason);
  }
  let writing: Promise<void> = Promise.resolve();

  const append = (lines: readonly string[]) => {
    if (!isThere || lines.length === 0) return writing;
    const text = lines.map((line) => `${line}\n`).join("");
    // Ignored: the log matters only after a crash.
    writing = writing.then(() => appendFile(path, text)).catch(() => {});
    return writing;
  };
  const flush = () => append(accesses.changed().map(lineOf));
  const timer = setInterval(() => void flush(), flushMs);
  timer.unref();

  return {
    nested(repositories) {
      const line: z.input<typeof NestedLine> = { nested: [...repositories] };
      void append([JSON.stringify(line)]);
    },
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

/** Yields the builds that were running when an earlier daemon died. Removes logs that cannot be read. */
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
  const accesses = new Map<string, ResultAccess>();
  let { facts } = head;
  for (const line of lines) {
    const one = entryIn(line);
    if (one === undefined) continue;
    if ("nested" in one) facts = { ...facts, nested: one.nested };
    // A later line about the same result includes the earlier one.
    else accesses.set(keyText(one.key), one);
  }
  const startedAt = new Date(head.startedAt);
  const endedAt = mtime > startedAt ? mtime : startedAt;
  return { id: head.id, startedAt, endedAt, facts, accesses: [...accesses.values()] };
}

/** Returns undefined for an incomplete line; the last line may be incomplete. */
function entryIn(line: string): ResultAccess | z.infer<typeof NestedLine> | undefined {
  try {
    return z.union([NestedLine, Line]).parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function lineOf(one: ResultAccess): string {
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
    of: one.repository,
  };
  return JSON.stringify(line);
}

function logPath(directory: string, id: string): string {
  return join(directory, `${id}.demand`);
}
