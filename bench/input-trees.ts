/**
 * The cost of building input trees: one of 10,000 files, and those of 200 actions of a build that share a JDK, headers
 * and tools, and differ in a few files each.
 *
 * `npx tsx bench/input-trees.ts` takes some ten seconds, and a gigabyte of memory and disk.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { Digest } from "#core/digest.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { openMachine } from "#worker/machine.ts";
import { percentilesOf } from "./bench-database.ts";

const actions = 200;
const jdk = { files: 139, bytes: 193e6 };

const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-input-trees-"));
const farm = memoryBlobStore();
const machine = await openMachine(readWorkerConfig({ dataDir }));
let made = 0;
try {
  const large = await Promise.all(
    Array.from({ length: 10_000 }, (_, n) => file(`d${n % 100}/s${n % 7}/f${n}`, 200)),
  );
  const root = await treeOf(large);
  report("10,000 files, cold", [await lay(root)]);
  report("the same again", await times(20, () => root));
  const changed: number[] = [];
  for (let n = 0; n < 20; n++) {
    const edit = await file("d5/s5/f5", 300 + n);
    const others = large.filter(({ path }) => path !== edit.path);
    changed.push(await lay(await treeOf([...others, edit])));
  }
  report("each time one of them changed: the first", changed.slice(0, 1));
  report("each time one of them changed: the others", changed.slice(1));

  const shared = [
    ...(await some(jdk.files, (n) => `external/jdk/lib/l${n % 9}/f${n}`, jdk.bytes / jdk.files)),
    ...(await some(900, (n) => `external/headers/include/h${n % 30}/f${n}.h`, 4_000)),
    ...(await some(60, (n) => `external/tools/bin/t${n}`, 20_000)),
  ];
  const all: number[] = [];
  for (let n = 0; n < actions; n++) {
    const own = await some(12, (i) => `pkg/p${n}/src/f${i}.c`, 1_000 + n);
    const deps = await some(30, (i) => `bazel-out/bin/lib${(n + i) % 40}/l${(n + i) % 40}.h`, 900);
    all.push(await lay(await treeOf([...shared, ...own, ...deps])));
  }
  report("an action with JDK and headers: the first", all.slice(0, 1));
  report("the second", all.slice(1, 2));
  report("the other 198", all.slice(2));
} finally {
  await machine.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function lay(root: Digest): Promise<number> {
  const scratch = join(machine.runDir, `${made++}`);
  await mkdir(scratch);
  const began = performance.now();
  const input = await machine.inputRoots.make(root, scratch, farm);
  const tookMs = performance.now() - began;
  await input.unmount();
  return tookMs;
}

async function times(count: number, root: () => Digest): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) took.push(await lay(root()));
  return took;
}

async function treeOf(entries: readonly TreeEntry[]): Promise<Digest> {
  return uploadDirectories(farm, buildDirectoryTree(entries));
}

function some(count: number, path: (n: number) => string, bytes: number): Promise<TreeEntry[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => file(path(n), bytes)));
}

async function file(path: string, bytes: number): Promise<TreeEntry> {
  const content = Buffer.alloc(Math.round(bytes), `${path} ${bytes}\n`);
  const digest = digestOf(content);
  await farm.put(digest, content);
  return { kind: "file", path, digest, executable: false };
}

function report(what: string, ms: readonly number[]): void {
  const { p50, p99 } = percentilesOf(ms);
  process.stdout.write(`${what.padEnd(46)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
}
