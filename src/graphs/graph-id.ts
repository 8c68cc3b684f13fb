import { z } from "zod";

export const GraphId = z.uuid().brand<"GraphId">();
export type GraphId = z.infer<typeof GraphId>;
