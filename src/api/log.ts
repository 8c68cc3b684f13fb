import { z } from "zod";

/** Where to read a log from: bytes from the beginning of an attempt's log. A stream continues after `Last-Event-ID`. */
export const logPositionQuery = {
  attempt: z.string().optional(),
  offset: z.string().optional(),
};

/** Data of the events `log` and `restart` of a followed log; `end` ends it. */
export const LogEvent = z
  .union([
    /** `log` */
    z.object({ offset: z.number().int(), text: z.string() }),
    /** `restart`: another attempt began its log. */
    z.object({ attempt: z.number().int() }),
  ])
  .meta({ id: "LogEvent" });
