import type { Db } from "#db/db.ts";
import { removeUsedStates } from "./provider/used-state.store.ts";
import { forgetCodes } from "./sessions/code.store.ts";
import { forgetSessions } from "./sessions/session.store.ts";

/** How long the server remembers an ended session, so that the user is informed of the end. In ms. */
const keepSessionsMs = 7 * 24 * 60 * 60_000;

/** Removes ended sessions, used states, and expired codes. */
export async function forgetOldSignIns(db: Db, now: Date): Promise<void> {
  await removeUsedStates(db, now);
  await forgetCodes(db, now);
  while ((await forgetSessions(db, new Date(now.getTime() - keepSessionsMs))) > 0);
}
