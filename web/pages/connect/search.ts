import { z } from "zod";

export const ConnectSearch = z.object({
  project: z.coerce.string().optional().catch(undefined),
  tool: z.coerce.string().optional().catch(undefined),
});
export type ConnectSearch = z.infer<typeof ConnectSearch>;
