import { randomUUID } from "node:crypto";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { Alternative } from "../choice.ts";
import type { PastRun } from "../past-run.ts";

const start = Date.UTC(2030, 0, 1);
/** A time of the tests, in seconds after the first. */
export const atSecond = (seconds: number) => new Date(start + seconds * 1_000);

const linuxText = '{"OSFamily":"linux"}';

interface ExecutionRow {
  readonly id?: ExecutionId;
  readonly sizeClass?: number;
  readonly most?: number;
  readonly isSized?: boolean;
  readonly hedgeOf?: ExecutionId;
  readonly outcome?: string;
  readonly attempt?: number;
  readonly requirements?: string;
  readonly endSecond?: number;
  readonly title?: string;
}

/** Writes an execution that has ended. */
export async function anEndedExecution(tx: Tx, row: ExecutionRow = {}): Promise<ExecutionId> {
  const id = row.id ?? ExecutionId.parse(randomUUID());
  const end = atSecond(row.endSecond ?? 10);
  await tx.run(sql`
    insert into execution (id, project, domain, action_digest, requirements, size_class, least_size_class,
      most_size_class, is_sized, hedge_of, invocation, lane, place, priority, timeout_ms, do_not_cache,
      state, attempt, epoch, queued_at, finished_at, outcome, title)
    values (${id}, 'p', 'protected', ${id} || '/1', ${row.requirements ?? linuxText}, ${row.sizeClass ?? 1},
      1, ${row.most ?? null}, ${row.isSized ?? true}, ${row.hedgeOf ?? null}, 'i', 0, 0, 0, 60000, true,
      'finished', ${row.attempt ?? 1}, ${row.attempt ?? 1}, ${atSecond(0)}, ${end},
      ${row.outcome ?? "succeeded"}, ${row.title ?? "CppCompile //a"})
  `);
  return id;
}

interface AttemptRow {
  readonly attempt?: number;
  readonly sizeClass?: number;
  readonly worker?: string;
  readonly from?: number;
  readonly to?: number;
  readonly outcome?: string;
  readonly peakMemoryBytes?: number;
}

/** Writes an attempt that started and ended. */
export async function anAttempt(tx: Tx, id: ExecutionId, row: AttemptRow = {}): Promise<void> {
  const { attempt = 1, from = 2, to = 10 } = row;
  await tx.run(sql`
    insert into execution_attempt (execution_id, attempt, epoch, worker, leased_at, started_at, finished_at,
      outcome, message, size_class, timeout_ms, exit_code, user_ms, system_ms, peak_memory_bytes)
    values (${id}, ${attempt}, ${attempt}, ${row.worker ?? "w"}, ${atSecond(from)}, ${atSecond(from)},
      ${atSecond(to)}, ${row.outcome ?? "succeeded"}, '', ${row.sizeClass ?? 1}, 60000, 0, 900, 100,
      ${row.peakMemoryBytes ?? 50_000_000})
  `);
}

interface DecisionRow {
  readonly number?: number;
  readonly purpose?: string;
  readonly key?: string;
  readonly sizeClass?: number;
  readonly second?: number;
  readonly reason?: { readonly kind: string; readonly text: string };
  readonly alternatives?: readonly Partial<Alternative>[];
}

/** Writes a decision as the queue stores it. */
export async function aDecision(tx: Tx, id: ExecutionId, row: DecisionRow = {}): Promise<void> {
  const alternatives = (row.alternatives ?? [{ sizeClass: 1, expectedMs: 8_000 }]).map((each) => ({
    expectedMs: null,
    waitMs: 0,
    cost: null,
    risk: null,
    ...each,
  }));
  await tx.run(sql`
    insert into size_class_decision (execution_id, number, purpose, project, domain, key, strategy,
      decided_at, size_class, is_exact, expected_ms, timeout_ms, draw, reason, alternatives)
    values (${id}, ${row.number ?? 1}, ${row.purpose ?? "first"}, 'p', 'protected', ${row.key ?? "a:k"},
      'grange', ${atSecond(row.second ?? 0)}, ${row.sizeClass ?? 1}, false, 8000, 60000, 0.5,
      ${JSON.stringify(row.reason ?? { kind: "cheapest", text: "it costs least" })}::jsonb,
      ${JSON.stringify(alternatives)}::jsonb)
  `);
}

/** Writes the stored data of a key. */
export async function aKey(
  tx: Tx,
  key: string,
  row: {
    readonly title?: string;
    readonly domain?: string;
    readonly second?: number;
    readonly runs?: Readonly<Record<number, readonly PastRun[]>>;
  } = {},
): Promise<void> {
  const { title = "CppCompile //a", domain = "protected", second = 10, runs = {} } = row;
  await tx.run(sql`
    insert into size_class_key (project, domain, key, title, last_seen_at)
    values ('p', ${domain}, ${key}, ${title}, ${atSecond(second)})
  `);
  for (const [sizeClass, past] of Object.entries(runs)) {
    await tx.run(sql`
      insert into size_class_history (project, domain, key, size_class, runs, last_run_at)
      values ('p', ${domain}, ${key}, ${Number(sizeClass)}, ${JSON.stringify(past)}::jsonb, ${atSecond(second)})
    `);
  }
}
