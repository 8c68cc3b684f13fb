import { z } from "zod";

export const scales = ["linear", "logarithmic"] as const;

/** The periods that can be chosen, in minutes. */
export const periods = [15, 60, 360, 1_440, 10_080] as const;

export const WorkerTimelineSearch = z.object({
  minutes: z.coerce.number().int().min(1).max(10_080).optional().catch(undefined),
  scale: z.enum(scales).optional().catch(undefined),
});
export type WorkerTimelineSearch = z.infer<typeof WorkerTimelineSearch>;
