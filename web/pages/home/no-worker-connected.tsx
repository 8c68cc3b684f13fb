import type { Overview } from "#api/overview.ts";
import { Copyable } from "../../parts/copy.tsx";
import { numberText } from "../../parts/number-text.ts";

/** Says that no worker is connected, and how to start one. Shows nothing to callers who may not read the farm. */
export function NoWorkerConnected({ farm }: Pick<Overview, "farm">) {
  if (farm === null || farm.workers > 0) return null;
  const { queued } = farm;
  return (
    <section aria-label="No worker is connected">
      <h2>No worker is connected</h2>
      <p>
        {queued === 0
          ? "Jobs and remote executions wait until there is a worker."
          : `${numberText(queued)} ${queued === 1 ? "execution waits" : "executions wait"} for a worker.`}{" "}
        Start one on any machine that can reach this address. A farm that only serves caches needs
        none.
      </p>
      <Copyable text={`grange worker --server ${location.origin}`} label="command" />
    </section>
  );
}
