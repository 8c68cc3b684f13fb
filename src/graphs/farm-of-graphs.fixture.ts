import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import pino from "pino";
import { everybody, type Principal } from "#access/principal.ts";
import { recordActionResult } from "#actions/action-cache.ts";
import { outputTrees } from "#actions/output-trees.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { systemClock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Db, Tx } from "#db/db.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { Outcome } from "#execution/execution.ts";
import type { Lease } from "#execution/leasing/lease.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import { openMirrors } from "#git/fetch-commit.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { openGit } from "#git/run-git.ts";
import { executionsWantedByOperations } from "#invocations/operation.store.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FindingsSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { executionsWantedByRuns } from "./cancel.store.ts";
import { CatalogCache } from "./catalogs/catalog-cache.ts";
import { CommitInputReader } from "./commit-inputs.ts";
import { GraphId } from "./graph-id.ts";
import { wholeGraph } from "./graph-page.store.ts";
import { prepareReadyJobs } from "./graph-runner.ts";
import type { InProject } from "./project-of-jobs.ts";
import { onExecutionsFinished, onExecutionsProgress } from "./queue-events.ts";
import { repositoryAccess } from "./repository-access.ts";
import { submitGraph } from "./submit-graph.ts";

/** The result of a simulated worker: an exit code and outputs. */
export interface Answer {
  readonly exitCode?: number;
  readonly outcome?: Exclude<Outcome, "worker_lost">;
  readonly outputs?: Readonly<Record<string, string>>;
  /** What it printed. */
  readonly log?: string;
  /** What the rules found in its log, as workers report it. */
  readonly findings?: MessageInitShape<typeof FindingsSchema>;
}

/** Returns a farm without workers: a repository, the queue, the store; and a worker that the test simulates. */
export async function farmOfGraphs(db: Db) {
  const root = mkdtempSync(join(tmpdir(), "grange-graphs-"));
  const git = await openGit(join(root, "git"));
  const kept = memoryBlobStore();
  const lost = new Set<string>();
  /** A store that can lose blobs; a repeated write restores them. */
  const store: BlobStore = {
    ...kept,
    get: async (digest) => (lost.has(digestKey(digest)) ? undefined : kept.get(digest)),
    async put(digest, bytes) {
      await kept.put(digest, bytes);
      lost.delete(digestKey(digest));
    },
    async findMissing(digests) {
      const gone = digests.filter((digest) => lost.has(digestKey(digest)));
      return [...gone, ...(await kept.findMissing(digests.filter((each) => !gone.includes(each))))];
    },
  };
  const mirrors = openMirrors({ git, directory: join(root, "mirrors"), workingDirectory: root });
  const inputs = new CommitInputReader({ git, mirrors, db, store });
  const evaluator = new TemplateEvaluator();
  const cache = new CatalogCache();
  const logger = pino({ level: "silent" });
  const queue = await openExecutionQueue({
    db,
    clock: systemClock,
    logger,
    hooks: {
      stillWanted: async (tx, ids) => [
        ...(await executionsWantedByRuns(tx, ids)),
        ...(await executionsWantedByOperations(tx, ids)),
      ],
      async recordResults(tx, finished) {
        for (const { id, result, ...rest } of finished) {
          if (result === undefined) continue;
          await recordActionResult(tx, {
            ...rest,
            executionId: id,
            result: fromBinary(ActionResultSchema, result),
          });
        }
      },
      onFinished: async (tx, finished) => void (await onExecutionsFinished(tx, finished)),
      onProgress: async (tx, progress) => void (await onExecutionsProgress(tx, progress)),
    },
  });
  const worker = { name: "w", instanceId: "w1" };
  await queue.register({
    ...worker,
    platform: {},
    sizeClass: 1,
    slots: 64,
    cpus: null,
    memoryBytes: null,
    version: "0",
    facilities: {},
    transport: "pull",
    host: "here",
    leaseMs: 15_000,
    images: [],
  });
  const repository = testRepository(root);
  const trees = outputTrees(store);
  /** Tests look at one store only. */
  const inProject: InProject = (project) => ({ project, store, trees, inputs });
  const parts = {
    db,
    store,
    trees,
    inputs,
    inProject,
    clock: systemClock,
    logger,
    transaction: <T>(work: (tx: Tx) => Promise<T>) => queue.transaction(work),
  };

  /** Prepares all ready jobs, including those that become ready meanwhile. */
  const prepare = async () => {
    while ((await prepareReadyJobs(parts)) > 0);
  };

  const access = repositoryAccess({
    db,
    workingDirectory: root,
    sharedDirectories: [],
    farmDirectories: [join(root, "mirrors")],
  });
  const submission = { db, access, git, mirrors, inputs, evaluator, cache };
  return {
    db,
    queue,
    store,
    /** Loses a blob, as when its file is removed. */
    lose: (digest: Digest) => void lost.add(digestKey(digest)),
    repository,
    parts,
    submission,
    prepare,
    async submit(request: Partial<SubmitGraph> = {}, by: Principal = everybody) {
      const { graph, isNew } = await submitGraph(
        submission,
        { repository: repository.path, ...request },
        by,
      );
      return { id: GraphId.parse(graph.id), graph, isNew };
    },
    /** Waits for cancellations as a worker does. */
    cancellations: (confirmed: readonly Lease[], waitMs: number) =>
      queue.cancellations(worker, confirmed, waitMs, new AbortController().signal),
    /** Waits for work as a worker does. */
    claim: (waitMs: number) => queue.claim(worker, 64, waitMs, new AbortController().signal),
    async states(id: GraphId): Promise<Record<string, string>> {
      const graph = await wholeGraph(db, id);
      return Object.fromEntries((graph?.jobList ?? []).map((job) => [job.name, job.state]));
    },
    /** Prepares, claims and answers until no more work comes; returns the scripts that were run. */
    async work(
      answer: (
        script: string,
        inputRoot: string,
        root: Digest | undefined,
      ) => Answer | Promise<Answer> = () => ({}),
    ): Promise<string[]> {
      const scripts: string[] = [];
      for (;;) {
        await prepare();
        const leased = await queue.claim(worker, 64, 0, new AbortController().signal);
        if (leased.length === 0) return scripts;
        for (const { lease, actionDigest } of leased) {
          const action = fromBinary(
            ActionSchema,
            (await store.get(actionDigest)) ?? new Uint8Array(),
          );
          const command = fromDigestMessage(action.commandDigest, "the command");
          const bytes = await store.get(command);
          const script = fromBinary(CommandSchema, bytes ?? new Uint8Array()).arguments[2] ?? "";
          scripts.push(script);
          await queue.started(lease, new Date());
          const {
            exitCode = 0,
            outcome = exitCode === 0 ? "succeeded" : "failed",
            outputs = {},
            log = "",
            findings = {},
          } = await answer(
            script,
            action.inputRootDigest?.hash ?? "",
            action.inputRootDigest && fromDigestMessage(action.inputRootDigest, "the root"),
          );
          const outputFiles = await Promise.all(
            Object.entries(outputs).map(async ([path, text]) => {
              const content = Buffer.from(text);
              const digest = digestOf(content);
              await store.put(digest, content);
              return { path, digest: toDigestMessage(digest) };
            }),
          );
          const result = toBinary(
            ActionResultSchema,
            create(ActionResultSchema, {
              exitCode,
              outputFiles,
              stdoutRaw: Buffer.from(log),
              executionMetadata: {
                auxiliaryMetadata: [anyPack(FindingsSchema, create(FindingsSchema, findings))],
              },
            }),
          );
          await queue.finish({ lease, outcome, exitCode, result });
        }
      }
    },
    async stop() {
      await queue.stop();
      await evaluator.stop();
      await git.stop();
      await rm(root, { recursive: true });
    },
  };
}
