import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import type { Verb } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
import type { HandlerServices } from "./handler-services.ts";

/** Changes rights and records the change in the audit log; then it clears all cached rights of callers. */
export async function changeRights<T>(
  { db, clock, callers }: Pick<HandlerServices, "db" | "clock" | "callers">,
  by: Principal,
  verb: Verb,
  detail: Readonly<Record<string, unknown>>,
  work: (tx: Tx, now: Date) => Promise<T>,
): Promise<T> {
  const done = await db.transaction(async (tx) => {
    const answer = await work(tx, clock.now());
    await recordAudit(tx, { actor: by.name, verb, detail });
    return answer;
  });
  callers.forgetAll();
  return done;
}
