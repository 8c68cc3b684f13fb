import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pino from "pino";
import { keyText } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import type { Build, ResultRequest } from "#granary/builds/build.ts";
import type { DuneBuild } from "#granary/dune/dune-builds.ts";
import { type DuneParts, type DuneServer, serveDune } from "#granary/dune/serve-dune.ts";
import type { GranaryResult } from "#granary/granary-result.ts";
import { type OpenGranaryStore, openGranaryStore } from "#granary/store/open-granary-store.ts";
import type { Need } from "../../support/needs/needs.ts";

export const run = promisify(execFile);
const logger = pino({ level: "silent" });
const project = "toys";

/** The version of Debian's dune, such as "2.9.3", if it is installed. */
const duneVersion: string | undefined = await run("dune", ["--version"])
  .then(({ stdout }) => stdout.trim())
  .catch(() => undefined);

/** dune 2: dune 3 has no cache daemon that a granary can replace. */
export const duneTwo: Need = {
  name: "dune 2",
  missing:
    duneVersion?.startsWith("2.") === true ? undefined : `installed: ${duneVersion ?? "none"}`,
  remedy: { kind: "debian", packages: ["ocaml-dune", "ocaml-nox"] },
};

/** A farm in this process: the published results, in the order in which the publishing build used them. */
export interface ToyFarm {
  readonly results: Map<string, GranaryResult>;
  readonly blobs: Map<string, Uint8Array>;
}

export function toyFarm(): ToyFarm {
  return { results: new Map(), blobs: new Map() };
}

/** The recorded requests of a build. */
interface NotedBuild extends DuneBuild {
  readonly asked: Map<string, ResultRequest>;
  readonly made: Map<string, GranaryResult>;
}

export interface DuneMachine {
  readonly directory: string;
  readonly store: OpenGranaryStore;
  readonly server: DuneServer;
  /** The environment variables of the build's user. */
  readonly variables: Readonly<Record<string, string>>;
  readonly unannounced: NotedBuild[];
  startBuild(farm: ToyFarm | undefined): NotedBuild;
  /** Publishes all requested results of a build to the farm. */
  publish(build: NotedBuild, farm: ToyFarm): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a machine with a granary, in separate directories. */
export async function duneMachine(options: Partial<DuneParts> = {}): Promise<DuneMachine> {
  const directory = await mkdtemp(join(tmpdir(), "grange-dune-"));
  const store = await openGranaryStore({
    directory: join(directory, "granary"),
    limitBytes: 10 ** 10,
    logger,
  });
  const unannounced: NotedBuild[] = [];
  const runtime = join(directory, "runtime");
  await mkdir(runtime);
  const server = serveDune({
    granary: store,
    place: store.placeAt,
    tieredCache: {
      async keep({ build }, result) {
        // Without a given cost, the value that the granary's own code uses.
        const costMs = result.costMs ?? build?.tookMs?.(result);
        await store.keep({ ...result, costMs });
        build?.made({ ...result, costMs });
      },
      forget: (who, key) => store.forget(who.project, key),
    },
    builds: {
      start: async () => {
        const build = startBuild(undefined);
        unannounced.push(build);
        return build;
      },
      end: async () => {},
    },
    directory: join(directory, "granary/dune"),
    logger,
    ...options,
  });

  function startBuild(farm: ToyFarm | undefined): NotedBuild {
    const asked = new Map<string, ResultRequest>();
    const made = new Map<string, GranaryResult>();
    const ahead = new Set<string>();
    const build: Build = {
      id: crypto.randomUUID(),
      project,
      environment: "e",
      prefetch: {
        coming: () => undefined,
        leadMs: (key) => (ahead.has(keyText(key)) ? 1 : undefined),
        whyNot: () => "not-indexed",
        pauseForForeground: () => () => {},
        hint: () => {},
      },
      mayBeAtFarm: () => true,
      asked: (key, what) => void asked.set(keyText(key), what),
      requestedBlob: () => {},
      made: (result) => void made.set(keyText(result), result),
      tookMs: () => 0,
    };
    return {
      build,
      asked,
      made,
      async *arrivals() {
        for (const result of farm?.results.values() ?? []) {
          if (!store.has(project, result)) {
            for (const digest of [result.value, ...result.blobs]) {
              const bytes = farm?.blobs.get(digestKey(digest));
              if (bytes && !store.hasBlob(digest)) await store.blobs.put(digest, bytes);
            }
            await store.keep(result);
            ahead.add(keyText(result));
          }
          yield result;
        }
      },
    };
  }

  return {
    directory,
    store,
    server,
    unannounced,
    variables: {
      HOME: directory,
      XDG_CACHE_HOME: join(directory, "cache"),
      XDG_RUNTIME_DIR: runtime,
    },
    startBuild,
    async publish({ asked, made }, farm) {
      for (const [name, { result = made.get(name) }] of asked) {
        if (result === undefined) continue;
        farm.results.set(name, result);
        for (const digest of [result.value, ...result.blobs]) {
          const bytes = await store.blobs.get(digest);
          if (bytes !== undefined) farm.blobs.set(digestKey(digest), bytes);
        }
      }
    },
    async remove() {
      await server.stop();
      await store.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Returns how many commands dune executed in its last build, by its log; without its calls of the toolchain at each
 * start.
 */
export async function executed(root: string): Promise<number> {
  const log = await readFile(join(root, "_build/log"), "utf8");
  return log.split("\n").filter((line) => line.startsWith("$ (cd _build")).length;
}

interface DuneRun {
  readonly code: number | null;
  readonly ms: number;
  readonly stderr: string;
}

/** Runs dune to its end. */
export async function dune(
  root: string,
  variables: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
): Promise<DuneRun> {
  const startedAt = performance.now();
  const { PATH } = process.env;
  try {
    const { stderr } = await run("dune", ["build", "--root", root, "-j2", ...args], {
      env: { PATH, ...variables },
      timeout: 100_000,
      killSignal: "SIGKILL",
    });
    return { code: 0, ms: performance.now() - startedAt, stderr };
  } catch (reason) {
    const { code, stderr } = reason as { code?: number; stderr?: string };
    return { code: code ?? null, ms: performance.now() - startedAt, stderr: stderr ?? "" };
  }
}

/** Runs one build with a granary: connects it, runs it, reads its results. */
export async function buildThrough(
  machine: DuneMachine,
  root: string,
  options: { readonly farm?: ToyFarm; readonly preparedMs?: number } = {},
) {
  const build = machine.startBuild(options.farm);
  const attached = await machine.server.attach(build, {
    variables: machine.variables,
    directory: root,
  });
  if (attached === undefined) throw new Error("the granary takes no part");
  await attached.prepared?.(options.preparedMs ?? 0);
  const ran = await dune(root, { ...machine.variables, ...attached.settings });
  await attached.learn();
  const tally = await attached.finish();
  return { build, ran, tally, executed: ran.code === 0 ? await executed(root) : -1 };
}

/** Makes a repository with the toy project's sources in one commit. */
export async function commitAll(root: string): Promise<void> {
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: root });
  await git("init", "--quiet");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "Begin");
}
