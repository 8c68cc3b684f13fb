import { z } from "zod";

export const periods = [1, 7, 14, 30, 90] as const;
export const defaultDays = 14;

export const FlakySearch = z.object({
  repository: z.string().optional().catch(undefined),
  days: z.coerce.number().int().min(1).max(90).optional().catch(undefined),
});
export type FlakySearch = z.infer<typeof FlakySearch>;
