import { z } from "zod";

/** Something that a notify job told, or tried to tell, one place. */
export const Notification = z.object({
  /** Names it to the place, which may hear it twice. */
  id: z.string(),
  run: z.number().int(),
  url: z.string(),
  /** `kept`: the server does not allow the place; it is only shown. */
  state: z.enum(["pending", "delivered", "kept", "failed"]),
  attempts: z.number().int(),
  /** For people: why it was not delivered yet, or will not be. */
  problem: z.string().nullable(),
  deliveredAt: z.iso.datetime().nullable(),
});
export type Notification = z.infer<typeof Notification>;

/** A graph that a run of a graph job made. */
export const MadeGraph = z.object({ run: z.number().int(), graphId: z.string() });
export type MadeGraph = z.infer<typeof MadeGraph>;
