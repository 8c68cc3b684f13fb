import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { digestOf } from "#cas/digest-of.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { RunningBuild } from "../builds/start-build.ts";
import type { GranaryResult } from "../granary-result.ts";
import { keyInEnvironment } from "../key-in-environment.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { TieredCache } from "../tiered-cache/tiered-cache.ts";
import type { Answer, OutputFile } from "./answers.ts";
import {
  type Candidate,
  readCandidates,
  withCandidate,
  writeCandidates,
} from "./approximations.ts";
import type { Message } from "./messages.ts";
import { type Output, readValue, writeValue } from "./result-value.ts";

interface ResultParts {
  readonly tieredCache: TieredCache;
  readonly store: Pick<GranaryStore, "blobs" | "asFile">;
  /** The largest output that is stored. */
  readonly mostFileBytes: number;
}

/** Files that are stored or fetched at the same time. */
const filesAtOnce = 8;

/** Handles the messages of build systems about results, over the tiered cache of all tools. */
export interface ResultHandlers {
  lookUp(build: RunningBuild, message: Message<"look-up">): Promise<Answer>;
  keep(build: RunningBuild, message: Message<"result">): Promise<Answer>;
  approximate(build: RunningBuild, message: Message<"approximation">): Promise<void>;
}

export function resultHandlers({ tieredCache, store, mostFileBytes }: ResultParts): ResultHandlers {
  const { candidatesFor, add } = storedApproximations(tieredCache);
  // Additions to one approximation run one after the other: two at once would lose one of them.
  const adding = new Map<string, Promise<void>>();

  async function found(build: RunningBuild, message: Message<"look-up">, key: string) {
    const one = await findOutputs({ tieredCache, store }, build, key);
    noteRepository(build, named(build, key), message.repository);
    if (one === undefined) return undefined;
    const { costMs } = one.result;
    return {
      type: "found" as const,
      to: message.id,
      key,
      outputs: one.outputs,
      ...(costMs === undefined ? {} : { costMs }),
    };
  }

  return {
    async lookUp(build, message) {
      const { approx, id } = message;
      if (message.key !== undefined) {
        return (
          (await found(build, message, message.key)) ?? {
            type: "not-found",
            to: id,
            key: message.key,
          }
        );
      }
      const candidates = approx === undefined ? [] : await candidatesFor(build, approx);
      const exact = candidates.find((one) => one.exact);
      const hit = exact && (await found(build, message, exact.key));
      if (hit) return hit;
      if (approx === undefined || candidates.length === 0) return { type: "not-found", to: id };
      const keys = candidates.map(({ key }) => key);
      build.prefetch.hint(keys.map((key) => named(build, key)));
      return { type: "candidates", to: id, approx, keys };
    },

    async keep(build, { id, key, outputs, costMs, inputs, repository }) {
      try {
        const taken = await mapAtMost(filesAtOnce, outputs, async (one): Promise<Output> => {
          const { digest, isExecutable } = await storeFile({ store, mostFileBytes }, one.file);
          return { path: one.path, digest, executable: one.executable ?? isExecutable };
        });
        const bytes = writeValue(taken);
        const value = digestOf(bytes);
        const who = { project: build.project, build };
        const places = taken.map(({ path }) => path);
        const own = named(build, key);
        build.knowsPlace?.(own, places);
        await tieredCache.blobs(who).put(value, bytes);
        await tieredCache.keep(who, {
          ...own,
          project: build.project,
          value,
          attributes: {},
          blobs: taken.map(({ digest }) => digest),
          costMs,
        });
        if (inputs !== undefined) build.knowsInputs(own, inputs);
        noteRepository(build, own, repository);
        return { type: "kept", to: id, key };
      } catch (reason) {
        return { type: "not-kept", to: id, key, why: messageOf(reason).slice(0, 500) };
      }
    },

    async approximate(build, message) {
      const name = `${build.project} ${message.approx}`;
      const before = adding.get(name) ?? Promise.resolve();
      const now = before.then(() => add(build, message)).catch(() => {});
      adding.set(name, now);
      await now;
      if (adding.get(name) === now) adding.delete(name);
    },
  };
}

/** Notes the repository that a tool names for a result. A position that the build did not report means the outer one. */
function noteRepository(build: RunningBuild, key: ResultKey, position = 0): void {
  const { length } = build.facts.nested ?? [];
  if (position > 0 && position <= length) build.belongsTo(key, position);
}

/** Returns how the candidates of an approximation are read and added; they are stored as a result. */
function storedApproximations(tieredCache: TieredCache) {
  async function candidatesFor(build: RunningBuild, approx: string): Promise<Candidate[]> {
    // There is no build here, because an approximation is not a result that the build requested.
    const who = { project: build.project, build: undefined };
    const result = await tieredCache.result(who, named(build, `approx/${approx}`));
    const value = result && (await tieredCache.blobs(who).get(result.value));
    return value ? readCandidates(value) : [];
  }

  async function add(build: RunningBuild, { approx, key, exact }: Message<"approximation">) {
    const known = await candidatesFor(build, approx);
    const bytes = writeCandidates(withCandidate(known, { key, exact }));
    const value = digestOf(bytes);
    const who = { project: build.project, build: undefined };
    await tieredCache.blobs(who).put(value, bytes);
    await tieredCache.keep(who, {
      ...named(build, `approx/${approx}`),
      project: build.project,
      value,
      attributes: {},
      blobs: [],
      costMs: undefined,
    });
  }

  return { candidatesFor, add };
}

/** Returns a result with its outputs as files; undefined when it, or one of its blobs, cannot be found. */
async function findOutputs(
  { tieredCache, store }: Pick<ResultParts, "tieredCache" | "store">,
  build: RunningBuild,
  key: string,
): Promise<{ outputs: OutputFile[]; result: GranaryResult } | undefined> {
  const who = { project: build.project, build };
  const own = named(build, key);
  const result = await tieredCache.result(who, own);
  if (result === undefined) return undefined;
  const blobs = tieredCache.blobs(who);
  const value = await blobs.get(result.value);
  const outputs = value && readValue(value);
  if (outputs === undefined) return undefined;
  const all = outputs.map(({ digest }) => digest);
  await mapAtMost(filesAtOnce, await store.blobs.findMissing(all), async (digest: Digest) => {
    for await (const _ of (await blobs.read(digest)) ?? []);
  });
  const missing = await store.blobs.findMissing(all);
  if (missing.length > 0) {
    await tieredCache.forget(who, own);
    return undefined;
  }
  // Small blobs are in a pack until a file is needed.
  await mapAtMost(filesAtOnce, all, (digest) => store.asFile(digest));
  for (const digest of all) build.requestedBlob(digest);
  build.knowsPlace?.(
    own,
    outputs.map(({ path }) => path),
  );
  return {
    result,
    outputs: outputs.map(({ path, digest, executable }) => ({
      path,
      file: store.blobs.path(digest),
      sizeBytes: digest.sizeBytes,
      executable,
    })),
  };
}

/**
 * Stores a file of the build. It is hashed while it is copied, so that the blob matches its digest even when the build
 * changes the file meanwhile. Throws `invalid_argument` and `resource_exhausted`.
 */
async function storeFile(
  { store, mostFileBytes }: Pick<ResultParts, "store" | "mostFileBytes">,
  file: string,
): Promise<{ digest: Digest; isExecutable: boolean }> {
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Fault("invalid_argument", `${file} is not a regular file`);
    if (stats.size > mostFileBytes) {
      throw new Fault("resource_exhausted", `${file} has more than ${mostFileBytes} bytes`);
    }
    const chunks = handle.createReadStream({ autoClose: false });
    return { digest: await store.blobs.take(chunks), isExecutable: (stats.mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

function named({ environment }: RunningBuild, key: string): ResultKey {
  return keyInEnvironment(environment, { namespace: "results", key });
}
