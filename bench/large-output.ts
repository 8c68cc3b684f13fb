/**
 * Seven jobs that take the 36,000 files of another, with all results cached: how long the server needs for them, and
 * the longest time in which it does nothing else. `npx tsx bench/large-output.ts` takes about twenty seconds.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { create, toBinary } from "@bufbuild/protobuf";
import { everybody } from "#access/principal.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { encodeTree } from "#cas/tree-message.ts";
import type { Digest } from "#core/digest.ts";
import { aWorker, never, silent } from "#execution/execution.fixture.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { graphSummary } from "#graphs/graph-summary.store.ts";
import { submitGraph } from "#graphs/submit-graph.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { readServerConfig } from "#server/config.ts";
import { openDataDirectory } from "#server/data-directory.ts";
import { openServices } from "#server/open-services.ts";
import type { Services } from "#server/services.ts";

const fileCount = 36_000;
const takers = ["a", "b", "c", "d", "e", "f", "g"];
const mostMs = 120_000;

const dataDir = await mkdtemp(join(tmpdir(), "grange-bench-large-output-"));
const directory = await openDataDirectory(dataDir);
const { scaling } = readServerConfig({ dataDir }, {});
const config = { dataDir, webhooks: [], pricePerWorkerMinute: 0, scaling };
try {
  let services = await openServices(config, directory, silent);
  try {
    const repository = testRepository(dataDir);
    repository.write({ ".grange/jobs.yml": definitions() });
    repository.commit("Take a large output");
    const worker = aWorker("large-output");
    await services.queue.register(worker);
    const tree = await putOutput(services.blobs);

    // The first ready job is the one that all others need.
    let isInstall = true;
    await measure("executed", services, repository.path, async () => {
      for (const { lease } of await services.queue.claim(worker, 8, 1_000, never)) {
        await services.queue.started(lease, new Date());
        const outputDirectories = [{ path: "node_modules", treeDigest: toDigestMessage(tree) }];
        const result = toBinary(
          ActionResultSchema,
          create(ActionResultSchema, isInstall ? { outputDirectories } : {}),
        );
        isInstall = false;
        await services.queue.finish({ lease, outcome: "succeeded", exitCode: 0, result });
      }
    });
    await measure("all hits", services, repository.path);
    await measure("all hits, again", services, repository.path);
    await services.stop();
    services = await openServices(config, directory, silent);
    await measure("all hits, of a new process", services, repository.path);
  } finally {
    await services.stop();
  }
} finally {
  await directory.release();
  await rm(dataDir, { recursive: true, force: true });
}

function definitions(): string {
  const jobs = takers.map((name) => `  ${name}: {commands: use ${name}, needs: [install]}`);
  return [
    "version: 1",
    "jobs:",
    "  install: {commands: make, outputs: node_modules}",
    ...jobs,
  ].join("\n");
}

/** Stores a `node_modules` with as many packages, directories and files as a web project has. */
async function putOutput(blobs: BlobStore): Promise<Digest> {
  const entries = await mapAtMost(
    16,
    Array.from({ length: fileCount }, (_, n) => n),
    async (n): Promise<TreeEntry> => {
      const bytes = Buffer.from(`module.exports = ${n};\n`);
      await blobs.put(digestOf(bytes), bytes);
      const path = `package-${n % 600}/lib/part-${n % 4_200}/file-${n}.js`;
      return { kind: "file", path, digest: digestOf(bytes), executable: false };
    },
  );
  const tree = encodeTree(buildDirectoryTree(entries));
  await blobs.put(digestOf(tree), tree);
  return digestOf(tree);
}

/** Submits the graph, works until it has ended, and prints the durations. */
async function measure(
  name: string,
  { db, access, git, mirrors, inputs, evaluator, cache }: Services,
  repository: string,
  work: () => Promise<void> = () => new Promise((resolve) => setTimeout(resolve, 20)),
): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const begun = performance.now();
  const { graph } = await submitGraph(
    { db, access, git, mirrors, inputs, evaluator, cache },
    { repository },
    everybody,
  );
  for (;;) {
    const summary = await graphSummary(db, GraphId.parse(graph.id));
    if (summary?.finishedAt) break;
    if (performance.now() - begun > mostMs) throw new Error(`${name}: the graph does not end`);
    await work();
  }
  const tookMs = performance.now() - begun;
  delay.disable();
  process.stdout.write(
    `${name.padEnd(28)} ${tookMs.toFixed(0).padStart(6)} ms, the event loop held up to ${(delay.max / 1e6).toFixed(0).padStart(4)} ms\n`,
  );
}
