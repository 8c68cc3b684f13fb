import type { ClaimedBenchmarkJob, JobEnd } from "#api/collector.ts";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { Component } from "#artifacts/component.ts";
import { backoffMs } from "#core/backoff.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { caseKey } from "#core/test-case.ts";
import { parseSuite } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import type { CollectorParts, Ending } from "./collector-parts.ts";
import type { HeldJob } from "./held-job.ts";
import { leftToMeasure } from "./left-to-measure.ts";
import { errorText, type MeasuringJob, measureCase } from "./measure-case.ts";
import { quietMachine } from "./quiet-machine.ts";
import { sendStoredResults } from "./send-results.ts";
import { isTransient, standingOf } from "./standing.ts";

const handedBack: JobEnd = { outcome: "handed-back", why: "the collector is being stopped" };

/** Runs a job and reports how it ended; returns undefined when another collector now has it. */
export async function runJob(
  parts: CollectorParts,
  claimed: ClaimedBenchmarkJob,
  job: HeldJob,
  fingerprint: string,
  ending: Ending,
): Promise<JobEnd["outcome"] | undefined> {
  const { lab, spool, contact, logger } = parts;
  let end = await endOf(parts, claimed, job, fingerprint, ending);
  // A job with unsent results has not ended, whatever its outcome.
  const areSent = await sendStoredResults(parts, job, !ending.wanted.aborted, ending.now);
  if (!areSent) end = handedBack;
  for (let failures = 1; !job.gone; failures++) {
    try {
      const { state } = await lab.end(
        job.id,
        { holder: job.holder, end },
        signalOfLastReport(ending.now),
      );
      contact.answered();
      if (end.outcome === "success" && state !== "success") {
        // The local record is wrong: everything that the server lacks is measured again.
        logger.warn({ job: job.id, state }, "the server lacks results of a job");
        await parts.memory.keep({ job: undefined });
        return "transient";
      }
      if (end.outcome === "permanent") await spool.dropJob(job.id);
      return end.outcome;
    } catch (reason) {
      if (standingOf(reason) !== "away") job.lose("lost");
      else contact.failed(reason, "a job's end waits for the server");
      // Without this report, the lease expires, and then the attempt counts.
      if (ending.wanted.aborted) return undefined;
      await rest(backoffMs(failures, Math.random()), AbortSignal.any([job.signal, ending.wanted]));
    }
  }
  logger.warn(
    { job: job.id, why: job.gone },
    "dropped a job that another collector has taken over",
  );
  if (job.gone === "cancelled") await spool.dropJob(job.id);
  return undefined;
}

/** The time for a last report of a collector that must end at once. */
const lastReportMs = 1_000;
function signalOfLastReport(now: AbortSignal): AbortSignal {
  return now.aborted ? AbortSignal.timeout(lastReportMs) : new AbortController().signal;
}

async function endOf(
  parts: CollectorParts,
  claimed: ClaimedBenchmarkJob,
  job: HeldJob,
  fingerprint: string,
  ending: Ending,
): Promise<JobEnd> {
  const { bench, spool, memory, logger } = parts;
  // Before the test starts, stopping loses nothing; a started test gets a grace period.
  const stopsUnstarted = AbortSignal.any([job.signal, ending.wanted]);
  const placed: PlacedArtifact[] = [];
  try {
    for (const [name, kept] of spool.of(job.id)) {
      if (kept.fingerprint !== fingerprint) await spool.drop(name);
    }
    // Read before the results are reported, because the claim does not contain them yet.
    const kept = spool.of(job.id).map(([, each]) => each);
    await sendStoredResults(parts, job, false, stopsUnstarted);
    const left = leftToMeasure(claimed, kept, memory.doneOf(job.id, fingerprint));
    if (left.length === 0) return { outcome: "success" };

    const got = await getArtifacts(parts, claimed, placed, stopsUnstarted);
    if ("outcome" in got) return job.gone || !ending.wanted.aborted ? got : handedBack;
    const lock = await parts.lock.take(stopsUnstarted, (holder) =>
      logger.info({ holder }, "waits for another process that measures on this machine"),
    );
    try {
      if (lock && bench.endLeftovers() > 0)
        logger.warn("ended programs of a measurement that was killed");
      return await measureAll(parts, got, left, job, fingerprint, ending);
    } finally {
      await lock?.release();
    }
  } catch (reason) {
    if (ending.wanted.aborted || job.gone) return handedBack;
    logger.error({ err: reason }, "the collector could not do a job");
    return { outcome: "transient", error: errorText(reason) };
  } finally {
    for (const each of placed) await bench.release(each).catch(() => {});
  }
}

async function getArtifacts(
  { bench, logger }: CollectorParts,
  claimed: ClaimedBenchmarkJob,
  placed: PlacedArtifact[],
  signal: AbortSignal,
): Promise<MeasuringJob | Extract<JobEnd, { error: string }>> {
  let suite: Suite;
  try {
    suite = parseSuite(claimed.definition, claimed.suite);
  } catch (reason) {
    return { outcome: "permanent", error: errorText(reason) };
  }
  const backend = claimed.cases[0]?.case.backend ?? "";
  for (const { tag, component } of [claimed.artifact, ...[claimed.against ?? []].flat()]) {
    const parsed = Component.safeParse(component);
    if (!parsed.success || parsed.data.kind === "path")
      return { outcome: "permanent", error: `${tag}: a collector cannot get it` };
    try {
      placed.push(await bench.place(suite, backend, parsed.data, signal));
    } catch (reason) {
      logger.warn({ artifact: tag, reason: messageOf(reason) }, "cannot get an artifact");
      const outcome = isTransient(reason) ? "transient" : "permanent";
      return { outcome, error: errorText(`${tag}: ${messageOf(reason)}`) };
    }
  }
  const [artifact, against] = placed;
  if (!artifact) return { outcome: "permanent", error: "the job names no artifact" };
  return { claimed, suite, artifact, against };
}

async function measureAll(
  parts: CollectorParts,
  measuring: MeasuringJob,
  left: ReturnType<typeof leftToMeasure>,
  job: HeldJob,
  fingerprint: string,
  ending: Ending,
): Promise<JobEnd> {
  const { bench, spool, memory, logger, clock } = parts;
  const stopsUnstarted = AbortSignal.any([job.signal, ending.wanted]);
  const stopsStarted = AbortSignal.any([job.signal, ending.now]);
  const done = [...memory.doneOf(job.id, fingerprint)];
  const troubles: string[] = [];
  let isFirst = true;
  for (const each of left) {
    if (stopsUnstarted.aborted) return handedBack;
    const warning = await quietMachine(parts, isFirst, stopsUnstarted);
    isFirst = false;
    const key = caseKey(each.case);
    logger.info({ case: key, from: each.from }, "measures");
    try {
      await measureCase(
        bench,
        measuring,
        each,
        warning,
        async (test) => {
          await spool.keep({ jobId: job.id, fingerprint, keptAtMs: clock.now().getTime(), test });
          await sendStoredResults(parts, job, false, stopsStarted);
        },
        stopsStarted,
      );
      done.push(key);
      await memory.keep({ job: { id: job.id, fingerprint, done } });
    } catch (reason) {
      if (stopsStarted.aborted) return handedBack;
      // The other cases are still measured; this one continues in the job's next attempt.
      logger.error({ err: reason, case: key }, "a test could not be measured");
      troubles.push(`${key}: ${messageOf(reason)}`);
    }
  }
  if (troubles.length > 0) return { outcome: "transient", error: errorText(troubles.join("\n")) };
  return { outcome: "success" };
}
