import { z } from "zod";
import { AccessSetting } from "#core/access-setting.ts";

/** `GET /server` */
export const ServerInfo = z
  .object({
    version: z.string(),
    /** For people: `PostgreSQL 18.4, embedded`. */
    database: z.string(),
    startedAt: z.iso.datetime(),
    /** What callers without a token may do. */
    access: AccessSetting,
  })
  .meta({ id: "ServerInfo" });
export type ServerInfo = z.infer<typeof ServerInfo>;
