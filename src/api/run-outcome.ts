import { z } from "zod";

/** How a run ended, as reported by the queue; `cached` means that nothing was executed. */
export const RunOutcome = z.enum([
  "succeeded",
  "failed",
  "timed_out",
  "out_of_memory",
  "cancelled",
  "worker_lost",
  "infrastructure_error",
]);
export type RunOutcome = z.infer<typeof RunOutcome>;
