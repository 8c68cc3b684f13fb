import { z } from "zod";

/** A message of a notify job to one place, delivered or not. */
export const Notification = z.object({
  /** Identifies the message for the place, which may receive it twice. */
  id: z.string(),
  run: z.number().int(),
  url: z.string(),
  /** `kept`: the server does not allow this place, so the message is only shown. */
  state: z.enum(["pending", "delivered", "kept", "failed"]),
  attempts: z.number().int(),
  /** For people: why it is not delivered yet, or never will be. */
  problem: z.string().nullable(),
  deliveredAt: z.iso.datetime().nullable(),
});
export type Notification = z.infer<typeof Notification>;

/** A graph that a run of a graph job made. */
export const MadeGraph = z.object({ run: z.number().int(), graphId: z.string() });
export type MadeGraph = z.infer<typeof MadeGraph>;
