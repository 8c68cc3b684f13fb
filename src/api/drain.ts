import { z } from "zod";

/** A worker's name, or a pattern of names in which `*` stands for any charactersor none. */
const DrainPattern = z
  .string()
  .regex(
    /^[A-Za-z0-9._:@/*-]{1,128}$/,
    "a worker's name, or a pattern with *, is 1 to 128 letters, digits and . _ : @ / - *",
  );

export const AddDrain = z
  .object({
    pattern: DrainPattern,
    reason: z.string().trim().max(1_000).default(""),
  })
  .meta({ id: "AddDrain" });
export type AddDrain = z.input<typeof AddDrain>;

export const RemoveDrain = z.object({ pattern: DrainPattern }).meta({ id: "RemoveDrain" });
export type RemoveDrain = z.infer<typeof RemoveDrain>;

/** A request that workers, present and future ones, accept nothing new. */
export const Drain = z
  .object({
    pattern: z.string(),
    reason: z.string(),
    createdBy: z.string(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: "Drain" });
export type Drain = z.infer<typeof Drain>;
