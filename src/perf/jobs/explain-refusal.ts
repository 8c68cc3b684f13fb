import type { JobHolder } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import type { JobStanding } from "./leased-job.store.ts";

/** Returns the message for a collector that names a job which it does not hold, or holds no longer. */
export function explainRefusal(
  id: string,
  standing: JobStanding | undefined,
  holder: JobHolder,
): Fault {
  if (standing === undefined) return new Fault("not_found", `there is no benchmark job ${id}`);
  const because =
    standing.currentIncarnation !== holder.incarnation
      ? `another process now acts for collector ${holder.collector}`
      : standing.collector !== holder.collector
        ? `collector ${holder.collector} does not have it`
        : standing.epoch !== holder.epoch || standing.incarnation !== holder.incarnation
          ? `it was assigned again, or its lease has expired`
          : standing.state === "in-progress"
            ? "it has just been assigned again"
            : `it is ${standing.state}`;
  return new Fault(
    "aborted",
    `this collector may not report on job ${id}: ${because}; drop it and claim another job`,
  );
}
