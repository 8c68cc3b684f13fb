import { z } from "zod";
import { Platform } from "#core/platform.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { greatestSizeClass } from "../claiming/is-served-by.ts";
import { type ExecutionId, Outcome } from "../execution.ts";
import type { ChosenSize, EndedRun, SizedExecution } from "./size-class-roles.ts";

/** The purposes of a choice. */
const purposes = ["first", "retry", "hedge", "background"] as const;
type Purpose = (typeof purposes)[number];

export interface NewDecision {
  readonly id: ExecutionId;
  readonly project: string;
  readonly domain: string;
  readonly purpose: Purpose;
  readonly chosen: ChosenSize;
}

/** Stores the reasons for chosen classes, each as the next decision of its execution. */
export async function recordDecisions(tx: Tx, decisions: readonly NewDecision[]): Promise<void> {
  if (decisions.length === 0) return;
  const rows = decisions.map(({ id, project, domain, purpose, chosen }) => ({
    execution_id: id,
    project,
    domain,
    purpose,
    key: chosen.decision.key,
    strategy: chosen.decision.strategy,
    decided_at: chosen.decision.decidedAt,
    size_class: chosen.sizeClass,
    is_exact: chosen.isExact,
    expected_ms: chosen.expectedDurationMs,
    timeout_ms: chosen.timeoutMs,
    draw: chosen.decision.draw,
    background_size_class: chosen.decision.backgroundSizeClass,
    page_rank: chosen.decision.pageRank,
    reason: chosen.decision.reason,
    alternatives: chosen.decision.alternatives,
  }));
  await tx.run(sql`
    insert into size_class_decision (
      execution_id, number, purpose, project, domain, key, strategy, decided_at, size_class, is_exact,
      expected_ms, timeout_ms, draw, background_size_class, page_rank, reason, alternatives)
    select execution_id,
      1 + (select count(*) from size_class_decision as before
           where before.execution_id = made.execution_id),
      purpose, project, domain, key, strategy, decided_at, size_class, is_exact, expected_ms,
      timeout_ms, draw, background_size_class, page_rank, reason, alternatives
    from json_to_recordset(${JSON.stringify(rows)}::json) as made (
      execution_id uuid, purpose text, project text, domain text, key text, strategy text,
      decided_at timestamptz, size_class integer, is_exact boolean, expected_ms bigint,
      timeout_ms bigint, draw double precision, background_size_class integer, page_rank jsonb,
      reason jsonb, alternatives jsonb)
  `);
}

const Json = z.record(z.string(), z.unknown());
export const Decision = z.object({
  project: z.string(),
  domain: z.string(),
  number: z.number(),
  purpose: z.enum(purposes),
  key: z.string(),
  strategy: z.string(),
  decidedAt: z.date(),
  sizeClass: z.number(),
  isExact: z.boolean(),
  expectedMs: z.number(),
  timeoutMs: z.number(),
  draw: z.number(),
  backgroundSizeClass: z.number().nullable(),
  pageRank: z.record(z.string(), z.number()).nullable(),
  reason: Json,
  alternatives: z.array(Json),
});
/** A choice that was made for an execution, as stored. */
export type KeptDecision = z.infer<typeof Decision>;

/** Returns the decisions about an execution, in order. */
export function decisionsOf(tx: Tx, id: ExecutionId): Promise<KeptDecision[]> {
  return tx.many(
    Decision,
    sql`
      select project, domain, number, purpose, key, strategy, decided_at as "decidedAt", size_class as "sizeClass",
        is_exact as "isExact", expected_ms as "expectedMs", timeout_ms as "timeoutMs", draw,
        background_size_class as "backgroundSizeClass", page_rank as "pageRank", reason, alternatives
      from size_class_decision where execution_id = ${id} order by number
    `,
  );
}

const Facts = z.object({
  project: z.string(),
  domain: TrustDomain,
  similarityKeys: z.array(z.string()),
  requirements: z.string().transform((text) => Platform.parse(JSON.parse(text))),
  least: z.number(),
  most: z.number().nullable(),
  requestedTimeoutMs: z.number(),
});

/** An attempt that has ended, with what a learner needs to know of it. */
export const AttemptRow = z.object({
  sizeClass: z.number(),
  outcome: Outcome,
  durationMs: z.number(),
  timeoutMs: z.number(),
  exitCode: z.number().nullable(),
  cpuMs: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
});

/** Returns the facts that a learner needs; undefined when no class was chosen, or the execution is finished. */
export async function sizedExecution(tx: Tx, id: ExecutionId): Promise<SizedExecution | undefined> {
  const [facts] = await tx.many(
    Facts,
    sql`
      select project, domain, kin as "similarityKeys", requirements, least_size_class as least, most_size_class as most,
        coalesce(asked_timeout_ms, timeout_ms) as "requestedTimeoutMs"
      from execution where id = ${id} and is_sized and state = 'leased'
    `,
  );
  if (facts === undefined) return undefined;
  const { [greatestSizeClass]: _, ...requirements } = facts.requirements;
  const decisions = await decisionsOf(tx, id);
  const attempts = await endedAttempts(tx, id);
  return {
    ...facts,
    id,
    requirements,
    asked: { least: facts.least, most: facts.most ?? undefined },
    decisions: decisions.map(chosenAgain),
    attempts,
  };
}

/** Returns the attempts that give information about the action, and those whose worker was lost, in order. */
async function endedAttempts(tx: Tx, id: ExecutionId): Promise<EndedRun[]> {
  const rows = await tx.many(
    AttemptRow,
    sql`
      select coalesce(size_class, 1) as "sizeClass", outcome,
        extract(epoch from finished_at - coalesce(started_at, leased_at))::double precision * 1000 as "durationMs",
        coalesce(timeout_ms, 1) as "timeoutMs", exit_code as "exitCode",
        user_ms + system_ms as "cpuMs", peak_memory_bytes as "peakMemoryBytes"
      from execution_attempt where execution_id = ${id} order by attempt
    `,
  );
  return rows.flatMap(({ outcome, exitCode, cpuMs, peakMemoryBytes, ...row }) =>
    outcome === "cancelled" || outcome === "infrastructure_error"
      ? []
      : [
          {
            ...row,
            outcome,
            exitCode: exitCode ?? undefined,
            cpuMs: cpuMs ?? undefined,
            peakMemoryBytes: peakMemoryBytes ?? undefined,
          },
        ],
  );
}

function chosenAgain(kept: KeptDecision): SizedExecution["decisions"][number] {
  const { number, sizeClass, isExact, expectedMs, timeoutMs, backgroundSizeClass, pageRank } = kept;
  const { key, strategy, decidedAt, draw, reason, alternatives } = kept;
  return {
    number,
    sizeClass,
    isExact,
    expectedDurationMs: expectedMs,
    timeoutMs,
    decision: {
      key,
      strategy,
      decidedAt,
      draw,
      reason,
      alternatives,
      backgroundSizeClass: backgroundSizeClass ?? undefined,
      pageRank: pageRank ?? undefined,
    },
  };
}
