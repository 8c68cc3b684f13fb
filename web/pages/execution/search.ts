import { z } from "zod";

export const ExecutionSearch = z.object({
  stream: z.enum(["stdout", "stderr"]).optional().catch(undefined),
  line: z.coerce.number().int().positive().optional().catch(undefined),
  find: z.coerce.string().optional().catch(undefined),
});
export type ExecutionSearch = z.infer<typeof ExecutionSearch>;
