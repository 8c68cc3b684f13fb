import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { JobPurpose, RequestKind, RequestState } from "#api/benchmark-request.ts";
import type { ChangeToConfirm, ClaimedBenchmarkJob, JobHolder } from "#api/collector.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Suite } from "#suites/suite.ts";
import { suiteDigest } from "#suites/suite-digest.ts";
import { keepSuite } from "./suites.store.ts";

/** The start time of the lab in tests. */
export const labEpoch = new Date("2026-06-01T00:00:00Z");

/** A clock that only moves when the test advances it. */
export function labClock(start = labEpoch) {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    pass(ms: number) {
      time += ms;
    },
  };
}

/** Two sets of compile benchmarks, one of runtime benchmarks; two backends, one of them optional; one target. */
export function aSuite(changes: Partial<z.input<typeof Suite>> = {}): Suite {
  return Suite.parse({
    suite: "demo",
    artifacts: { from: "nowhere" },
    backends: { js: {}, native: { default: false } },
    targets: { "linux-x64": {}, "linux-arm64": { optional: true } },
    metrics: {
      instructions: {
        take: { from: "instructions" },
        nature: "deterministic",
        unit: "instructions",
      },
      "wall-time": { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" },
      throughput: {
        take: { from: "output", pattern: "(\\d+)/s" },
        nature: "noisy",
        unit: "per-second",
        better: "higher",
      },
    },
    headline: "instructions",
    iterations: { counted: 3, timed: 3 },
    compile: {
      command: ["{tool}"],
      profiles: { check: {}, emit: {} },
      scenarios: { full: {}, incremental: { warm: true } },
      benchmarks: { alpha: {}, beta: {}, gamma: { set: 1 } },
    },
    runtime: { command: ["node", "{out}/main.js"], benchmarks: { sort: {} } },
    ...changes,
  });
}

/** Removes the lab's data from a database, but keeps the farm. */
export async function emptyLab(db: Db): Promise<void> {
  await db.script(
    "truncate benchmark_suite, benchmark_environment, collector, benchmark_leader cascade",
  );
}

export async function storeSuite(db: Db, suite = aSuite()): Promise<string> {
  const digest = suiteDigest(suite);
  await db.transaction((tx) => keepSuite(tx, suite, digest, "tester", labEpoch));
  return digest;
}

export interface StoredArtifact {
  readonly id: number;
  readonly tag: string;
  readonly suite: string;
}

const Id = z.object({ id: z.number() });
let day = 0;
export async function storeArtifact(
  db: Db,
  wanted: {
    readonly tag: string;
    readonly suite?: string;
    readonly kind?: z.infer<typeof RequestKind>;
    readonly datedAt?: Date;
    readonly parent?: StoredArtifact;
    readonly backends?: readonly string[];
  },
): Promise<StoredArtifact> {
  const { tag, suite = "demo", kind = "master", parent, backends = ["js", "native"] } = wanted;
  const datedAt = wanted.datedAt ?? new Date(labEpoch.getTime() + day++ * 86_400_000);
  const components = Object.fromEntries(
    backends.map((backend) => [
      backend,
      { kind: "npm", package: backend, version: `1.0.0-${tag}` },
    ]),
  );
  const [row] = await db.many(
    Id,
    sql`
      insert into benchmark_artifact (suite, tag, kind, dated_at, components, parent_id, known_since)
      values (${suite}, ${tag}, ${kind}, ${datedAt}, ${JSON.stringify(components)}::jsonb,
              ${parent?.id ?? null}, ${labEpoch})
      returning id
    `,
  );
  return { id: Id.parse(row).id, tag, suite };
}

/** Inserts a request into the table; in progress by default. */
export async function storeRequest(
  db: Db,
  wanted: {
    readonly artifact: StoredArtifact;
    readonly parent?: StoredArtifact;
    readonly kind?: z.infer<typeof RequestKind>;
    readonly state?: z.infer<typeof RequestState>;
    readonly pr?: number;
    readonly paired?: boolean;
    readonly createdAt?: Date;
    readonly backends?: readonly string[];
    readonly benchmarks?: readonly string[];
  },
): Promise<string> {
  const { artifact, parent, kind = "master", state = "in-progress" } = wanted;
  const id = randomUUID();
  const createdAt = wanted.createdAt ?? labEpoch;
  const isOver = state === "completed" || state === "failed" || state === "cancelled";
  await db.run(sql`
    insert into benchmark_request
      (id, suite, artifact_id, parent_id, kind, pr, state, backends, benchmarks, paired, requested_by, because,
       created_at, started_at, ended_at)
    values (${id}, ${artifact.suite}, ${artifact.id}, ${parent?.id ?? null}, ${kind}, ${wanted.pr ?? null}, ${state},
            ${wanted.backends ?? []}, ${wanted.benchmarks ?? []}, ${wanted.paired ?? false}, 'tester', '',
            ${createdAt}, ${createdAt}, ${isOver ? createdAt : null})
  `);
  return id;
}

interface WantedJob {
  readonly request: string;
  readonly artifact: StoredArtifact;
  readonly digest: string;
  readonly against?: StoredArtifact;
  readonly purpose?: JobPurpose;
  readonly section?: "compile" | "runtime" | "toolchain";
  readonly target?: string;
  readonly backend?: string;
  readonly profile?: string;
  readonly set?: number;
  readonly benchmarks?: readonly string[];
  readonly doubts?: readonly ChangeToConfirm[];
  readonly optional?: boolean;
  readonly maxAttempts?: number;
}

/** Inserts a queued job: by default of the compile section, profile `check` and set 0. */
export async function storeJob(db: Db, wanted: WantedJob): Promise<string> {
  const { purpose = "own", section = "compile", set = 0 } = wanted;
  const id = randomUUID();
  await db.run(sql`
    insert into benchmark_job
      (id, request_id, artifact_id, against_id, suite_digest, purpose, section, target, backend, profile,
       benchmark_set, benchmarks, doubts, optional, state, max_attempts, not_before, created_at)
    values (${id}, ${wanted.request}, ${wanted.artifact.id}, ${wanted.against?.id ?? null}, ${wanted.digest},
            ${purpose}, ${section}, ${wanted.target ?? "linux-x64"}, ${wanted.backend ?? "js"},
            ${wanted.profile ?? (section === "compile" ? "check" : "")}, ${set}, ${wanted.benchmarks ?? []},
            ${wanted.doubts === undefined ? null : JSON.stringify(wanted.doubts)}::jsonb,
            ${wanted.optional ?? false}, 'queued', ${wanted.maxAttempts ?? 3}, ${labEpoch}, ${labEpoch})
  `);
  await db.run(
    sql`insert into benchmark_request_job (request_id, job_id) values (${wanted.request}, ${id})`,
  );
  return id;
}

/** Creates a suite, an artifact and its parent, and a request in progress with a job for each set. */
export async function aLab(db: Db) {
  const digest = await storeSuite(db);
  const parent = await storeArtifact(db, { tag: `nightly-${randomUUID().slice(0, 8)}` });
  const child = await storeArtifact(db, { tag: `nightly-${randomUUID().slice(0, 8)}`, parent });
  const request = await storeRequest(db, { artifact: child, parent });
  const jobs = [
    await storeJob(db, { request, artifact: child, digest, set: 0 }),
    await storeJob(db, { request, artifact: child, digest, set: 1 }),
  ] as const;
  return { digest, parent, child, request, jobs };
}

/** Returns a collector's figures for a case: this many iterations, each value one higher. */
export function figuresOf(testCase: TestCase, iterations = 2) {
  const base = Buffer.from(caseKey(testCase)).reduce((sum, byte) => sum + byte, 1_000);
  return Array.from({ length: iterations }, (_, i) => ({
    iteration: i + 1,
    values: { instructions: base + i, "wall-time": base / 1_000 + i, throughput: 100 + i },
    warnings: [],
  }));
}

export function holderOf(
  collector: string,
  incarnation: string,
  job: Pick<ClaimedBenchmarkJob, "epoch">,
): z.infer<typeof JobHolder> {
  return { collector, incarnation, epoch: job.epoch };
}
