import type {
  InvocationAction,
  InvocationActionState,
  InvocationActions,
} from "#api/invocation.ts";
import type { Tx } from "#db/db.ts";
import { type ExecutionStanding, executionStandings } from "#execution/execution-standing.store.ts";
import { formatActionCursor, parseActionCursor } from "./action-cursor.ts";
import type { InvocationName } from "./invocation-row.store.ts";
import { openState, stateOfOutcome } from "./open-state.ts";
import {
  type RequestedAction,
  type RequestedActionQuery,
  requestedActions,
} from "./requested-actions.store.ts";

interface ActionListing extends InvocationName {
  readonly state: InvocationActionState | undefined;
  /** Leaves out what was answered from the action cache. */
  readonly withoutHits?: boolean;
  readonly text: string | undefined;
  readonly after: string | undefined;
  readonly limit: number;
}

/** An open action is queued or executing; only the queue knows the state. */
const whichOf: Readonly<Record<InvocationActionState, RequestedActionQuery["which"]>> = {
  hit: "hits",
  queued: "open",
  executing: "open",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/**
 * How often a list reads further rows, to find actions of a state that the rows do not contain, before it returns the
 * actions found so far.
 */
const mostLooks = 20;

/** Returns the next actions of an invocation, in the order of their requests. */
export async function listActions(tx: Tx, listing: ActionListing): Promise<InvocationActions> {
  const { project, id, state, limit } = listing;
  const text = listing.text === "" ? undefined : listing.text;
  const every = listing.withoutHits === true ? "operations" : "all";
  const which = state === undefined ? every : whichOf[state];
  const found: InvocationAction[] = [];
  let after = listing.after === undefined ? undefined : parseActionCursor(listing.after);
  for (let look = 0; look < mostLooks; look++) {
    const rows = await requestedActions(tx, { project, id, which, text, after, limit });
    const open = rows.flatMap(({ executionId }) => executionId ?? []);
    const standings = new Map<string, ExecutionStanding>(
      (await executionStandings(tx, open)).map((standing) => [standing.id, standing]),
    );
    for (const row of rows) {
      after = row;
      const action = actionOf(row, standings.get(row.executionId ?? ""));
      if (state === undefined || action.state === state) found.push(action);
      if (found.length === limit) return { actions: found, next: formatActionCursor(row) };
    }
    if (rows.length < limit) return { actions: found, next: null };
  }
  return { actions: found, next: after === undefined ? null : formatActionCursor(after) };
}

/**
 * The outcome in the operation takes precedence: other clients may still wait for an execution that this invocation has
 * given up.
 */
function actionOf(row: RequestedAction, standing: ExecutionStanding | undefined): InvocationAction {
  return {
    actionDigest: row.actionDigest,
    target: row.targetId,
    mnemonic: row.mnemonic,
    configuration: row.configurationId,
    state: stateOf(row, standing),
    executionId: row.executionId,
    joined: row.joined,
    requestedAt: row.at.toISOString(),
    startedAt: standing?.startedAt?.toISOString() ?? null,
    finishedAt: (row.finishedAt ?? standing?.finishedAt)?.toISOString() ?? null,
    worker: row.worker ?? standing?.worker ?? null,
    outcome: row.outcome ?? standing?.outcome ?? null,
    exitCode: row.exitCode ?? standing?.exitCode ?? null,
  };
}

function stateOf(
  { kind, outcome }: RequestedAction,
  standing: ExecutionStanding | undefined,
): InvocationActionState {
  if (kind === "hit") return "hit";
  if (outcome === null) return openState(standing);
  return stateOfOutcome(outcome);
}
