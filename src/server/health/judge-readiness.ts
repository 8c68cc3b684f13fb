import type { SchemaVersion } from "#db/migrate.ts";
import type { ReplicaStanding } from "#db/read-replicas.ts";

/** The results of a server's checks of its dependencies. */
export interface ServerState {
  /** The server is stopping, and ends after its clients have switched to another server. */
  readonly isDraining: boolean;
  /** The schema of the database, and how long reading it took; the reason if reading failed. */
  readonly database:
    | { readonly schema: SchemaVersion; readonly tookMs: number }
    | { readonly problem: string };
  /** The newest migration that this version of the code knows. */
  readonly knownMigration: number;
  /** The disk of the blobs; the reason if no file could be written there. */
  readonly blobs: { readonly freeBytes: number } | { readonly problem: string };
  /** The bucket of the blobs: how long its answer took, or the problem. Absent when blobs are in a directory. */
  readonly bucket?: { readonly tookMs: number } | { readonly problem: string };
  /** The read replicas of the database, without their addresses. */
  readonly replicas: readonly ReplicaStanding[];
  /** Workers that sent a message within the time of a lease. */
  readonly workers: number;
}

interface ReadinessCheck {
  readonly name: "server" | "database" | "migrations" | "replicas" | "blobs" | "bucket" | "workers";
  readonly ok: boolean;
  readonly detail: string;
}

export interface Readiness {
  /** Whether requests should be sent to this server. */
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

/** Less than one large upload needs. */
const leastFreeBytes = 64 * 1024 ** 2;

/**
 * Whether a load balancer should send requests to a server. A farm without workers is ready: it takes submissions, and
 * replacing the server would bring no workers. The same is true of a bucket that does not answer: no other server would
 * reach it, and this one still serves the copies on its disk. Without read replicas, the primary answers.
 *
 * Everybody who reaches the port can read the details, so they contain no paths and no addresses.
 */
export function judgeReadiness(state: ServerState): Readiness {
  const checks = [serverCheck(state), ...databaseChecks(state), blobsCheck(state)];
  const workers = { name: "workers", ok: true, detail: String(state.workers) } as const;
  return {
    ready: checks.every(({ ok }) => ok),
    checks: [...checks, ...replicaChecks(state), ...bucketChecks(state), workers],
  };
}

function serverCheck({ isDraining }: ServerState): ReadinessCheck {
  return { name: "server", ok: !isDraining, detail: isDraining ? "stopping" : "running" };
}

function databaseChecks({ database, knownMigration }: ServerState): ReadinessCheck[] {
  if ("problem" in database) return [{ name: "database", ok: false, detail: database.problem }];
  const { schema, tookMs } = database;
  return [
    { name: "database", ok: true, detail: `answered in ${Math.round(tookMs)} ms` },
    {
      name: "migrations",
      ok: schema.needed <= knownMigration,
      detail: schemaDetail(schema, knownMigration),
    },
  ];
}

function schemaDetail({ newest, needed }: SchemaVersion, known: number): string {
  if (needed > known)
    return `the database needs servers that know migration ${needed}, this server knows ${known}: update it`;
  return newest > known ? `${newest}, of a newer version; this server knows ${known}` : `${newest}`;
}

function replicaChecks({ replicas }: ServerState): ReadinessCheck[] {
  if (replicas.length === 0) return [];
  const behindMs = replicas.flatMap((each) =>
    each.kind === "replaying" && each.hasAllUntilMs !== undefined
      ? [each.checkedAtMs - each.hasAllUntilMs]
      : [],
  );
  const usable = `${behindMs.length} of ${replicas.length} can be read`;
  const behind = `at most ${(Math.max(...behindMs) / 1_000).toFixed(1)} s behind`;
  return [
    {
      name: "replicas",
      ok: behindMs.length === replicas.length,
      detail: behindMs.length === 0 ? usable : `${usable}, ${behind}`,
    },
  ];
}

function bucketChecks({ bucket }: ServerState): ReadinessCheck[] {
  if (bucket === undefined) return [];
  if ("problem" in bucket) return [{ name: "bucket", ok: false, detail: bucket.problem }];
  return [{ name: "bucket", ok: true, detail: `answered in ${Math.round(bucket.tookMs)} ms` }];
}

function blobsCheck({ blobs }: ServerState): ReadinessCheck {
  if ("problem" in blobs) return { name: "blobs", ok: false, detail: blobs.problem };
  const mebibytes = Math.floor(blobs.freeBytes / 1024 ** 2);
  return {
    name: "blobs",
    ok: blobs.freeBytes >= leastFreeBytes,
    detail: `${mebibytes} MiB free`,
  };
}
