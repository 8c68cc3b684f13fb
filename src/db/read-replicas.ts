import { z } from "zod";
import { messageOf } from "#core/fault.ts";
import { inTime } from "#core/in-time.ts";
import type { Db, Tx } from "./db.ts";
import { hasAllUntilMs, type LogPosition, parseLsn, withPosition } from "./replica-staleness.ts";
import { sql } from "./sql.ts";

/** What the last check found about a replica. Times are those of `performance.now()`. */
export type ReplicaStanding =
  | { readonly kind: "unchecked" }
  /** It replays the log of the primary. */
  | {
      readonly kind: "replaying";
      readonly checkedAtMs: number;
      /** It has all commits until this time; undefined when it is behind all positions that are known. */
      readonly hasAllUntilMs: number | undefined;
      readonly lagBytes: number;
    }
  | { readonly kind: "unusable"; readonly problem: string };

/** A replica and its standing. */
export interface SeenReplica {
  /** For people: host and port. */
  readonly place: string;
  readonly standing: ReplicaStanding;
}

/** A replica with its connections. */
interface OpenReplica {
  readonly place: string;
  readonly db: Db;
}

/**
 * Read-only copies of the database, which are some time behind the primary.
 *
 * An answer from a chosen replica has all that was committed until `maxAgeMs` ago, and possibly more. This holds for any
 * clock of any machine: a position in the log of the primary is read first, and a replica that has replayed this
 * position has all that was committed before it was read.
 */
export interface ReadReplicas {
  /** Returns a replica for an answer that may be so old; undefined when the primary must answer. */
  choose(maxAgeMs: number): Db | undefined;
  /**
   * Checks the replicas, unless this was done a moment ago, and returns their standings: those of the check before, if
   * this one takes longer than `mostMs`. Empty when the farm has none.
   */
  look(mostMs: number): Promise<readonly SeenReplica[]>;
  /** Closes the connections of the replicas. */
  stop(): Promise<void>;
}

interface ReplicaOptions {
  readonly primary: Tx;
  readonly replicas: readonly OpenReplica[];
  /** Called when a replica becomes usable or unusable. */
  readonly onChange?: (seen: SeenReplica) => void;
  /** The time limit for a check. */
  readonly checkMs?: number;
}

/** A check is two short statements; an answer of a page may be some seconds old. */
const checkedForMs = 500;
/** A replica without an answer for this time is not used until it answers again. */
const defaultCheckMs = 2_000;

/**
 * Checks replicas only when somebody reads: an idle farm has no checks. So the first read after a pause is answered by
 * the primary.
 */
export function readReplicas({
  primary,
  replicas,
  onChange,
  checkMs = defaultCheckMs,
}: ReplicaOptions): ReadReplicas {
  const seen = replicas.map((replica): OpenReplica & { standing: ReplicaStanding } => ({
    ...replica,
    standing: { kind: "unchecked" },
  }));
  let positions: readonly LogPosition[] = [];
  let lastCheck: { readonly begunAtMs: number; readonly done: Promise<void> } | undefined;
  let isChecking = false;
  let turn = 0;

  const check = async () => {
    const readAtMs = performance.now();
    const own = await inTime(readPrimary(primary), checkMs);
    if (own === "late") return;
    positions = withPosition(positions, { lsn: own.lsn, readAtMs });
    await Promise.all(
      seen.map(async (replica) => {
        const before = replica.standing;
        replica.standing = await standingOf(replica.db, own, positions, checkMs);
        if (before.kind !== replica.standing.kind) onChange?.(replica);
      }),
    );
  };
  const checkWhenDue = () => {
    const now = performance.now();
    if (lastCheck !== undefined && (isChecking || now - lastCheck.begunAtMs < checkedForMs))
      return lastCheck.done;
    isChecking = true;
    // A primary that does not answer is reported by the reads themselves.
    const done = check()
      .catch(() => {})
      .finally(() => {
        isChecking = false;
      });
    lastCheck = { begunAtMs: now, done };
    return done;
  };

  return {
    choose(maxAgeMs) {
      if (seen.length === 0) return undefined;
      void checkWhenDue();
      const oldest = performance.now() - maxAgeMs;
      const fresh = seen.filter(
        ({ standing }) =>
          standing.kind === "replaying" && (standing.hasAllUntilMs ?? -Infinity) >= oldest,
      );
      return fresh[turn++ % fresh.length]?.db;
    },
    async look(mostMs) {
      if (seen.length > 0) await inTime(checkWhenDue(), mostMs);
      return seen.map(({ place, standing }) => ({ place, standing }));
    },
    async stop() {
      await lastCheck?.done;
      await Promise.all(seen.map(({ db }) => db.close()));
    },
  };
}

/** The system and the database name a physical copy: each standby has those of its primary. */
const Identity = z.object({ system: z.string(), name: z.string() });

interface PrimaryPosition extends z.output<typeof Identity> {
  readonly lsn: bigint;
}

const identityColumns = sql`
  (select system_identifier::text from pg_control_system()) as system, current_database()::text as name`;

async function readPrimary(tx: Tx): Promise<PrimaryPosition> {
  // The position of insertions, not that of writes: with synchronous_commit off, a commit can be seen before it is written.
  const [row] = await tx.many(
    Identity.extend({ lsn: z.string() }),
    sql`select pg_current_wal_insert_lsn()::text as lsn, ${identityColumns}`,
  );
  if (row === undefined) throw new Error("the primary names no position of its log");
  return { ...row, lsn: parseLsn(row.lsn) };
}

async function standingOf(
  db: Tx,
  own: PrimaryPosition,
  positions: readonly LogPosition[],
  withinMs: number,
): Promise<ReplicaStanding> {
  try {
    const read = await inTime(
      db.many(
        Identity.extend({ replayed: z.string().nullable() }),
        sql`select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as replayed, ${identityColumns}`,
      ),
      withinMs,
    );
    if (read === "late") return { kind: "unusable", problem: "does not answer" };
    const [row] = read;
    if (row === undefined || row.system !== own.system || row.name !== own.name)
      return { kind: "unusable", problem: "is no copy of the farm's database" };
    // A standby that was promoted may lack what the primary of this server has committed since.
    if (row.replayed === null) return { kind: "unusable", problem: "is not a standby" };
    const replayed = parseLsn(row.replayed);
    return {
      kind: "replaying",
      checkedAtMs: performance.now(),
      hasAllUntilMs: hasAllUntilMs(positions, replayed),
      lagBytes: Number(own.lsn > replayed ? own.lsn - replayed : 0n),
    };
  } catch (reason) {
    return { kind: "unusable", problem: messageOf(reason) };
  }
}
