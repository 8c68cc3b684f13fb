import { z } from "zod";

export const periods = [1, 7, 30, 90] as const;
export const defaultDays = 7;

const digest = z.string().max(300).optional().catch(undefined);

export const CacheSearch = z.object({
  days: z.coerce.number().int().min(1).max(90).optional().catch(undefined),
  /** Only hit rates of this project, or of jobs of this repository. */
  name: z.string().max(300).optional().catch(undefined),
  /** The digests of two actions that are compared, and their project. */
  project: z.string().max(300).optional().catch(undefined),
  before: digest,
  after: digest,
});
export type CacheSearch = z.infer<typeof CacheSearch>;
