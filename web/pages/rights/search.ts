import { z } from "zod";

const Text = z.coerce.string().optional().catch(undefined);

/** The content of a link to the rights: those of a principal, or those at a place. */
export const RightsSearch = z.object({
  principal: Text,
  repository: Text,
  branch: Text,
});
export type RightsSearch = z.infer<typeof RightsSearch>;
