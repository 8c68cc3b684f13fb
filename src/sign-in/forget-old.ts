import type { Db } from "#db/db.ts";
import { removeUsedStates } from "./provider/used-state.store.ts";
import { forgetCodes } from "./sessions/code.store.ts";
import { forgetSessions } from "./sessions/session.store.ts";

/** How long a user with an ended session gets that message, instead of counting as unknown. In ms. */
const keepSessionsMs = 7 * 24 * 60 * 60_000;

/** Removes sessions, used states and codes that are over. */
export async function forgetOldSignIns(db: Db, now: Date): Promise<void> {
  await removeUsedStates(db, now);
  await forgetCodes(db, now);
  while ((await forgetSessions(db, new Date(now.getTime() - keepSessionsMs))) > 0);
}
