import { z } from "zod";

/** The body of every answer with a status other than 2xx. */
export const Failure = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      /** The id of the request in the server's log, for failures of the server. */
      requestId: z.string().optional(),
      /** The problems in the user's own files, if known. Lines and columns count from 1. */
      problems: z
        .array(
          z.object({
            file: z.string(),
            line: z.number().int().nullable(),
            column: z.number().int().nullable(),
            message: z.string(),
          }),
        )
        .optional(),
    }),
  })
  .meta({ id: "Failure" });
export type Failure = z.infer<typeof Failure>;
