import type { InvocationAction } from "#api/invocation.ts";
import type { Db } from "#db/db.ts";
import type { InvocationName } from "./invocation-row.store.ts";
import { listActions } from "./list-actions.ts";

/** More actions of one build are not gathered. */
const mostActions = 20_000;
const perPage = 1_000;

/** Returns all actions of an invocation in the order of their requests, up to a limit. */
export async function gatherActions(
  db: Db,
  name: InvocationName,
): Promise<{ readonly actions: InvocationAction[]; readonly isCut: boolean }> {
  const actions: InvocationAction[] = [];
  let after: string | undefined;
  do {
    const listing = { ...name, state: undefined, text: undefined, after, limit: perPage };
    // Each page in a transaction of its own: none is long.
    const page = await db.transaction((tx) => listActions(tx, listing));
    actions.push(...page.actions);
    after = page.next ?? undefined;
  } while (after !== undefined && actions.length < mostActions);
  return { actions: actions.slice(0, mostActions), isCut: after !== undefined };
}
