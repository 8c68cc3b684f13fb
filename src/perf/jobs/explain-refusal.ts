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
      ? `another process speaks for collector ${holder.collector} now`
      : standing.collector !== holder.collector
        ? `it is not with collector ${holder.collector}`
        : standing.epoch !== holder.epoch || standing.incarnation !== holder.incarnation
          ? `it was handed out again since, or its lease is over`
          : standing.state === "in-progress"
            ? "it was taken up again this moment"
            : `it is ${standing.state}`;
  return new Fault(
    "aborted",
    `job ${id} is not yours to tell of: ${because}; drop it and claim anew`,
  );
}
