import type { Logger } from "pino";
import { backoffMs } from "#core/backoff.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { HeldJob } from "./held-job.ts";
import type { LabConnection } from "./lab-connection.ts";
import type { LabContact } from "./lab-contact.ts";
import type { KeptTest, Spool } from "./spool.ts";
import { standingOf } from "./standing.ts";

interface Parts {
  readonly lab: LabConnection;
  readonly spool: Spool;
  readonly contact: LabContact;
  readonly logger: Logger;
}

/**
 * Sends the stored results of a job, oldest first.
 *
 * Between tests, it tries once: nothing is measured during a retry, so an outage of the server must not block it. With
 * `persistently`, before a job ends, it retries until the server has all results, the job is lost, or the signal is
 * aborted. Returns whether all were sent.
 */
export async function sendStoredResults(
  { lab, spool, contact, logger }: Parts,
  job: HeldJob,
  persistently: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  let failures = 0;
  for (const [name, kept] of spool.of(job.id)) {
    for (;;) {
      if (signal.aborted || job.gone) return false;
      try {
        await report(kept);
        contact.answered();
        await spool.drop(name);
        break;
      } catch (reason) {
        const standing = signal.aborted ? "away" : standingOf(reason);
        if (standing === "lost") job.lose("lost");
        if (standing === "refused") {
          await refused(name, kept, messageOf(reason));
          break;
        }
        if (standing === "away") contact.failed(reason, "results wait here for the server");
        if (!persistently) return false;
        await rest(backoffMs(++failures, Math.random()), signal);
      }
    }
  }
  return true;

  async function report({ test }: KeptTest): Promise<void> {
    await lab.report(job.id, { ...test, holder: job.holder }, signal);
  }

  /** Replaces a result that the server refuses by an error of the test, so that nothing waits for it. */
  async function refused(name: string, kept: KeptTest, why: string): Promise<void> {
    logger.error({ case: kept.test.case, reason: why }, "the server does not take these results");
    const { case: testCase, error } = kept.test;
    if (error === undefined) {
      const test = { case: testCase, metrics: [], error: `its results were refused: ${why}` };
      await report({ ...kept, test }).catch((reason: unknown) =>
        logger.error(
          { reason: messageOf(reason) },
          "and the server does not accept the refusal as an error either",
        ),
      );
    }
    await spool.drop(name);
  }
}
