import type { SizeClassAlternative, SizeClassDecision, SizeClassRun } from "#api/size-class.ts";
import type { ExecutionId } from "#execution/execution.ts";
import type { KeptDecision } from "#execution/sizing/size-decision.store.ts";
import type { SizedRun } from "#execution/sizing/sized-runs.store.ts";
import { Alternative, Reason } from "../choice.ts";
import { levelOf } from "../key.ts";
import { decisionWords } from "./decision-words.ts";
import { runsOfDecisions } from "./runs-of-decisions.ts";

/** Farms have a few classes. With more classes than this, the smallest are shown. */
const mostAlternatives = 64;
const mostReason = 2_000;

/** Returns the decisions of one execution, in order, each with its result. */
export function decisionsForPage(
  executionId: ExecutionId,
  title: string,
  decisions: readonly KeptDecision[],
  runs: readonly SizedRun[],
): SizeClassDecision[] {
  const came = runsOfDecisions(decisions, runs);
  return decisions.map((kept) => {
    const decision = {
      executionId,
      title,
      project: kept.project,
      domain: kept.domain,
      key: kept.key,
      level: levelOf(kept.key),
      number: kept.number,
      purpose: kept.purpose,
      strategy: kept.strategy,
      decidedAt: kept.decidedAt.toISOString(),
      sizeClass: kept.sizeClass,
      isExact: kept.isExact,
      expectedMs: kept.expectedMs,
      timeoutMs: kept.timeoutMs,
      draw: kept.draw,
      reason: reasonOf(kept.reason),
      alternatives: kept.alternatives.slice(0, mostAlternatives).flatMap(alternativeForPage),
      runs: (came.get(kept.number) ?? []).map(runForPage),
    };
    return { ...decision, sentences: decisionWords(decision) };
  });
}

/** Returns the readable part of a reason from another version of the farm. */
function reasonOf(kept: Readonly<Record<string, unknown>>): SizeClassDecision["reason"] {
  const reason = Reason.safeParse(kept);
  if (!reason.success) {
    const textIn = (value: unknown) => (typeof value === "string" ? value : "");
    return {
      kind: textIn(kept["kind"]) || "unknown",
      text: textIn(kept["text"]).slice(0, mostReason),
    };
  }
  return { ...reason.data, text: reason.data.text.slice(0, mostReason) };
}

function alternativeForPage(kept: unknown): SizeClassAlternative[] {
  const parsed = Alternative.safeParse(kept);
  if (!parsed.success) return [];
  const { bandMs, probability, remark, ...rest } = parsed.data;
  return [
    {
      ...rest,
      band: bandMs === undefined ? null : { fastMs: bandMs[0], slowMs: bandMs[1] },
      probability: probability ?? null,
      remark: remark?.slice(0, mostReason) ?? null,
    },
  ];
}

function runForPage(run: SizedRun): SizeClassRun {
  const { requestedId: _, leasedAt: __, startedAt, finishedAt, ...rest } = run;
  return {
    ...rest,
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    durationMs:
      startedAt === null || finishedAt === null
        ? null
        : Math.max(0, finishedAt.getTime() - startedAt.getTime()),
  };
}
