import { z } from "zod";

/**
 * A hint from a webhook: it shows what to read, and its data is not trusted.
 *
 * So neither its order nor its loss matters. Only `headAt` is trusted: the time, by the forge's own clock, at which a
 * pull request had a head.
 */
export const Hint = z.discriminatedUnion("about", [
  /** Branches or tags moved. */
  z.object({ about: z.literal("refs") }),
  z.object({
    about: z.literal("pull"),
    number: z.number().int().positive(),
    headAt: z.object({ head: z.string(), at: z.iso.datetime() }).optional(),
  }),
  z.object({ about: z.literal("comments"), pull: z.number().int().positive() }),
  /** Anything may have changed: renamed, installed, given other rights. */
  z.object({ about: z.literal("all") }),
  z.object({ about: z.literal("nothing") }),
]);
export type Hint = z.infer<typeof Hint>;
