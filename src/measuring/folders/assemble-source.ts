import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactCache, PlacedArtifact, PlacedFolder } from "#artifacts/artifact-cache.ts";
import type { Benchmark } from "#suites/suite.ts";
import { copyTree } from "./copy-tree.ts";
import { readBelow, writeBelow } from "./write-below.ts";

/** The parts of a benchmark's sources, which are stored on this machine until they are released. */
export interface PlacedSource {
  readonly from: string | undefined;
  readonly dependencies: readonly { readonly name: string; readonly from: string }[];
  release(): Promise<void>;
}

/** Fetches missing parts once, for all iterations. */
export async function placeSource(
  benchmark: Benchmark,
  cache: Pick<ArtifactCache, "placeSource" | "release">,
  artifact: PlacedArtifact,
  signal: AbortSignal,
): Promise<PlacedSource> {
  const placed: PlacedFolder[] = [];
  const release = async () => {
    for (const folder of placed.splice(0)) await cache.release(folder);
  };
  const place = async (wanted: Parameters<ArtifactCache["placeSource"]>[0]): Promise<string> => {
    const folder = await cache.placeSource(wanted, signal);
    placed.push(folder);
    return folder.directory;
  };
  try {
    const { source } = benchmark;
    const from =
      source === undefined
        ? undefined
        : "artifact" in source
          ? artifact.directory
          : await place(source);
    const dependencies: { name: string; from: string }[] = [];
    for (const dependency of benchmark.dependencies) {
      dependencies.push({ name: dependency.npm, from: await place(dependency) });
    }
    return { from, dependencies, release };
  } catch (reason) {
    await release();
    throw reason;
  }
}

/** Creates a fresh copy for one run. */
export async function assembleSource(
  benchmark: Benchmark,
  placed: PlacedSource,
  target: string,
): Promise<void> {
  if (placed.from !== undefined) await copyTree(join(placed.from, benchmark.below ?? ""), target);
  for (const { name, from } of placed.dependencies) {
    const at = join(target, "node_modules", name);
    await mkdir(at, { recursive: true });
    await copyTree(from, at);
  }
  for (const [path, content] of Object.entries(benchmark.files)) {
    const text =
      typeof content === "string" ? content : `${JSON.stringify(content, undefined, 2)}\n`;
    await writeBelow(target, path, text);
  }
}

export async function putOnPatch(
  patch: Benchmark["patches"][string],
  source: string,
): Promise<void> {
  const before = patch.replace ?? (await readBelow(source, patch.file)) ?? "";
  await writeBelow(source, patch.file, before + (patch.append ?? ""));
}
