import type { Logger } from "pino";
import { rest } from "#core/resting.ts";
import { judgeLoad, type Load } from "#measuring/environment/load.ts";
import type { CollectorOperations } from "./collector-operations.ts";
import type { CollectorConfig } from "./config.ts";
import { onLoad } from "./on-load.ts";

const lookEveryMs = 2_000;

/** Sample times in ms. Between tests, a short sample is enough to detect newly started programs. */
const sampleMs = { first: 1_000, between: 300 };

interface Parts {
  readonly bench: CollectorOperations;
  readonly config: CollectorConfig;
  readonly logger: Logger;
}

/**
 * Waits until measuring may begin. Returns the warning for its figures, if any.
 *
 * `isFirst`: nothing was measured just before; otherwise the load average would include the
 * collector's own load.
 */
export async function quietMachine(
  { bench, config, logger }: Parts,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const begun = performance.now();
  let reportedReason: string | undefined;
  for (;;) {
    const load = await bench.load(isFirst ? sampleMs.first : sampleMs.between, signal);
    const decision = onLoad({
      policy: config.onLoad,
      busy: busyText(isFirst ? load : { ...load, averagePerCpu: 0 }),
      waitedMs: performance.now() - begun,
      waitLimitMs: config.busyWaitLimitMs,
    });
    if (decision.kind === "begin") {
      if (decision.warning !== undefined)
        logger.warn({ load: decision.warning }, "measures, though the machine is busy");
      else if (reportedReason !== undefined) logger.info("the machine is idle now");
      return decision.warning;
    }
    if (reportedReason === undefined)
      logger.warn({ load: decision.why }, "waits for the machine to be quiet");
    reportedReason = decision.why;
    await rest(lookEveryMs, signal);
    signal.throwIfAborted();
  }
}

function busyText(load: Load): string | undefined {
  const quietness = judgeLoad(load, "refuse");
  return quietness.kind === "quiet" ? undefined : quietness.why;
}
