import { z } from "zod";

/** `GET /server` */
export const ServerInfo = z
  .object({
    version: z.string(),
    /** For people: `PostgreSQL 18.4, embedded`. */
    database: z.string(),
    startedAt: z.iso.datetime(),
  })
  .meta({ id: "ServerInfo" });
export type ServerInfo = z.infer<typeof ServerInfo>;
