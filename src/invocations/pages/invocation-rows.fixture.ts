import { randomUUID } from "node:crypto";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const start = Date.UTC(2030, 0, 1);
/** A time of the tests, in seconds after the first. */
export const atSecond = (seconds: number) => new Date(start + seconds * 1_000);

/** Writes an invocation as it is after calls of a tool. */
export async function anInvocation(
  tx: Tx,
  id: string,
  { project = "default", second = 0 }: { project?: string; second?: number } = {},
): Promise<void> {
  await tx.run(sql`
    insert into invocation (project, id, principal, tool_name, tool_version, first_seen_at, last_seen_at)
    values (${project}, ${id}, 'ada', 'bazel', '7.7.1', ${atSecond(second)}, ${atSecond(second)})
  `);
}

interface OperationRow {
  readonly executionId?: string;
  readonly project?: string;
  readonly target?: string;
  readonly mnemonic?: string;
  readonly second?: number;
  readonly outcome?: string;
  /** The hash of the action. */
  readonly hash?: string;
}

/** Writes an operation of an invocation; returns its execution. */
export async function anOperation(
  tx: Tx,
  invocation: string,
  {
    executionId = randomUUID(),
    project = "default",
    target = "//a",
    mnemonic = "CppCompile",
    second = 0,
    outcome,
    hash = "a".repeat(64),
  }: OperationRow = {},
): Promise<string> {
  await tx.run(sql`
    insert into operation (id, execution_id, project, invocation, principal, action_digest, target_id,
      action_mnemonic, joined, requested_at, watched_until, outcome, finished_at)
    values (${randomUUID()}, ${executionId}, ${project}, ${invocation}, 'ada', ${hash} || '/1',
      ${target}, ${mnemonic}, false, ${atSecond(second)}, ${atSecond(second)}, ${outcome ?? null},
      ${outcome === undefined ? null : atSecond(second + 1)})
  `);
  return executionId;
}

/** Writes a hit of the action cache for an invocation. */
export async function aHit(
  tx: Tx,
  invocation: string,
  { digest, second = 0, hit = true }: { digest: string; second?: number; hit?: boolean },
): Promise<void> {
  await tx.run(sql`
    insert into cache_lookup (project, invocation, action_digest, target_id, action_mnemonic, hit, looked_up_at)
    values ('default', ${invocation}, ${digest}, '//hit', 'Genrule', ${hit}, ${atSecond(second)})
  `);
}
