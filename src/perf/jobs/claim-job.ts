import type { ClaimedBenchmarkJob } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { noSuchCollector } from "../collectors/change-register.ts";
import { collectorsOfTarget, findCollector } from "../collectors/collector.store.ts";
import { selfTestDue } from "../collectors/self-test-due.ts";
import type { LabTimes } from "../lab-times.ts";
import { measuredCases, storedIterations, storedPairs } from "../results/stored-cases.store.ts";
import {
  type ClaimingCollector,
  type FoundJob,
  firstQueuedJob,
  handOut,
  heldJobOfCollector,
  keepLease,
  recordCollectorCall,
} from "./claim-job.store.ts";
import { decideClaim } from "./decide-claim.ts";
import type { AfterJob } from "./decide-end.ts";
import { casesLeft, jobCases, type StoredIterations } from "./job-cases.ts";
import { recordError, settleJob } from "./leased-job.store.ts";
import { servedSets } from "./served-sets.ts";

/** The result of one look into the queue. */
type ClaimTurn =
  | {
      readonly kind: "job";
      readonly job: ClaimedBenchmarkJob;
      readonly selfTestDue: boolean;
    }
  /** A job ended in the queue: nothing of it was left to do, or it cannot be done. The caller tries again. */
  | { readonly kind: "ended" }
  | { readonly kind: "nothing"; readonly because: string; readonly selfTestDue: boolean };

interface ClaimRules {
  readonly now: Date;
  readonly times: LabTimes;
  /** Returns a suite by its digest; undefined when it was not stored. */
  readonly suiteOf: (tx: Tx, digest: string) => Promise<Suite | undefined>;
}

/**
 * Looks once for a job of a collector. The collector's row is locked: of two claims at once, the second one sees the
 * job of the first.
 */
export async function claimOnce(
  tx: Tx,
  name: string,
  incarnation: string,
  rules: ClaimRules,
): Promise<ClaimTurn> {
  const { now, times } = rules;
  const me = await recordCollectorCall(tx, name, incarnation, now);
  if (me === undefined) return refuseUnregistered(tx, name);
  const isDue = selfTestDue(lastTestOf(me), now, times);
  const nothing = (because: string): ClaimTurn => ({
    kind: "nothing",
    because,
    selfTestDue: isDue,
  });
  if (!me.active) return nothing(`collector ${name} is not active`);
  if (me.outOfDuty !== null) return nothing(`collector ${name} is out of duty: ${me.outOfDuty}`);
  const job = (await heldJobOfCollector(tx, name)) ?? (await nextInQueue(tx, me, rules));
  if (job === undefined) return nothing("no job is queued for it");

  const decision = decideClaim(job, incarnation);
  if (decision.kind === "fail")
    return endInPlace(tx, job, { state: "failure", error: decision.error }, now);
  const work = await workOf(tx, me, job, rules);
  if ("error" in work) return endInPlace(tx, job, { state: "failure", error: work.error }, now);
  if (work.cases.length === 0) return endInPlace(tx, job, { state: "success" }, now);

  const until = new Date(now.getTime() + times.leaseMs);
  let { epoch, attempts } = job;
  if (decision.kind === "repeat") await keepLease(tx, job.id, until);
  else {
    ({ attempts } = decision);
    epoch = await handOut(tx, job.id, { collector: name, incarnation }, attempts, now, until);
    await notifyBenchmarkChange(tx, job.suite);
  }
  return {
    kind: "job",
    selfTestDue: isDue,
    job: {
      id: job.id,
      epoch,
      attempt: attempts,
      purpose: job.purpose,
      requestId: job.requestId,
      suite: job.suite,
      suiteDigest: job.suiteDigest,
      doubts: job.doubts ?? [],
      leaseMs: times.leaseMs,
      ...work,
    },
  };
}

async function nextInQueue(
  tx: Tx,
  me: ClaimingCollector,
  { now }: ClaimRules,
): Promise<FoundJob | undefined> {
  const peers = await collectorsOfTarget(tx, me.target);
  return firstQueuedJob(tx, me, servedSets(me, peers), now);
}

type Work = Pick<ClaimedBenchmarkJob, "definition" | "artifact" | "against" | "cases">;

async function workOf(
  tx: Tx,
  me: ClaimingCollector,
  job: FoundJob,
  { suiteOf }: ClaimRules,
): Promise<Work | { readonly error: string }> {
  const suite = await suiteOf(tx, job.suiteDigest);
  if (suite === undefined)
    return { error: `this server cannot read the definition ${job.suiteDigest} of ${job.suite}` };
  const component = job.components[job.backend];
  const lacks = (tag: string) => ({
    error: `${tag} has nothing that serves backend ${job.backend}`,
  });
  if (component === undefined) return lacks(job.artifactTag);
  const againstComponent = job.againstComponents?.[job.backend];
  if (job.againstTag !== null && againstComponent === undefined) return lacks(job.againstTag);
  const isPaired = job.againstTag !== null;
  const measured = isPaired ? new Set<string>() : await measuredCases(tx, job.artifactId, job);
  const pairs =
    isPaired && me.environmentId !== null
      ? await storedPairs(tx, job.id, me.environmentId)
      : new Map<string, number>();
  const iterations =
    job.runs !== null && me.environmentId !== null
      ? await storedIterations(tx, job.artifactId, job, me.environmentId)
      : new Map<string, StoredIterations>();
  return {
    definition: suite,
    artifact: { tag: job.artifactTag, component },
    against: job.againstTag === null ? null : { tag: job.againstTag, component: againstComponent },
    cases: casesLeft(jobCases(suite, job), job, measured, pairs, iterations),
  };
}

async function endInPlace(tx: Tx, job: FoundJob, after: AfterJob, now: Date): Promise<ClaimTurn> {
  await settleJob(tx, job.id, after, now, "holder");
  if (after.state === "failure") {
    const { id: jobId, artifactId } = job;
    await recordError(
      tx,
      { artifactId, jobId, caseId: null, benchmark: "", message: after.error },
      now,
    );
  }
  await notifyBenchmarkChange(tx, job.suite);
  return { kind: "ended" };
}

async function refuseUnregistered(tx: Tx, name: string): Promise<ClaimTurn> {
  const collector = await findCollector(tx, name);
  if (collector === undefined) throw noSuchCollector(name);
  if (collector.incarnation !== null)
    throw new Fault(
      "aborted",
      `another process now acts for collector ${name}: this process must end`,
    );
  return {
    kind: "nothing",
    because: `collector ${name} has not registered yet`,
    selfTestDue: false,
  };
}

function lastTestOf({ testedAt, testPassed }: ClaimingCollector) {
  return testedAt === null || testPassed === null
    ? undefined
    : { at: testedAt, passed: testPassed };
}
