import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { jsonOr } from "../api/api-failure.ts";
import type { Child } from "./child.ts";

/** The one line that `grange server` prints: that it listens, or why it does not. */
const ServerReady = z.discriminatedUnion("ready", [
  z.object({ ready: z.literal(true), url: z.url(), databaseMs: z.number() }),
  z.object({ ready: z.literal(false), error: z.object({ message: z.string() }) }),
]);
type ServerReady = z.infer<typeof ServerReady>;

/** Waits until a server that was just started listens; answers its address, and how long its database took. */
export async function untilServerReady(
  child: Child,
  logFile: string,
): Promise<{ readonly url: string; readonly databaseMs: number }> {
  const printed = (async () => {
    for await (const line of child.lines) {
      const said = ServerReady.safeParse(jsonOr(line, undefined));
      if (said.success) return said.data;
    }
    return undefined;
  })();
  const said = await printed;
  if (said?.ready === true) return said;
  const why = said?.error.message ?? `it ended (${await child.ended}); its log is ${logFile}`;
  throw new Fault("failed_precondition", `the server did not start: ${why}`);
}
