import type { BuildTiming } from "./build-timing.ts";
import type { InvocationAction } from "./invocation.ts";

/** Steps of the chain that are listed; the last ones. */
const mostSteps = 100;

/** An action that was executed, with its times in ms since 1970. */
interface Executed {
  readonly action: InvocationAction;
  readonly executionId: string;
  readonly requested: number;
  readonly started: number;
  readonly finished: number;
}

/** Returns how the actions of a build spent their time. `isCut` says that there are more actions than these. */
export function buildTiming(actions: readonly InvocationAction[], isCut: boolean): BuildTiming {
  const executed = executedOf(actions);
  const chain = longestChain(executed);
  const starts = actions.map(({ requestedAt }) => Date.parse(requestedAt));
  const first = starts.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const last = executed.reduce((most, { finished }) => Math.max(most, finished), first);
  return {
    wallMs: Number.isFinite(first) ? last - first : 0,
    mnemonics: byMnemonic(actions, executed),
    workers: byWorker(executed),
    chain: stepsOf(chain).slice(-mostSteps),
    chainLength: chain.length,
    isCut,
  };
}

/** Returns the actions that were executed and have ended. When their executions were deleted, their waiting is unknown. */
export function executedOf(actions: readonly InvocationAction[]): Executed[] {
  return actions.flatMap((action) => {
    const { executionId, finishedAt, requestedAt, startedAt, state } = action;
    if (executionId === null || finishedAt === null || state === "cancelled") return [];
    const finished = Date.parse(finishedAt);
    // A request that joined an execution may come after its start.
    const requested = Math.min(Date.parse(requestedAt), finished);
    const started = Math.min(
      Math.max(startedAt === null ? requested : Date.parse(startedAt), requested),
      finished,
    );
    return [{ action, executionId, requested, started, finished }];
  });
}

function byMnemonic(
  actions: readonly InvocationAction[],
  executed: readonly Executed[],
): BuildTiming["mnemonics"] {
  const groups = new Map<string, BuildTiming["mnemonics"][number]>();
  const change = (
    mnemonic: string,
    by: (now: BuildTiming["mnemonics"][number]) => Partial<BuildTiming["mnemonics"][number]>,
  ) => {
    const now = groups.get(mnemonic) ?? {
      mnemonic,
      cached: 0,
      executed: 0,
      failed: 0,
      waitedMs: 0,
      ranMs: 0,
      longestMs: 0,
    };
    groups.set(mnemonic, { ...now, ...by(now) });
  };
  for (const { mnemonic, state } of actions)
    if (state === "hit") change(mnemonic, ({ cached }) => ({ cached: cached + 1 }));
  for (const { action, requested, started, finished } of executed) {
    const ranMs = finished - started;
    change(action.mnemonic, (now) => ({
      executed: now.executed + 1,
      failed: now.failed + (action.state === "failed" ? 1 : 0),
      waitedMs: now.waitedMs + started - requested,
      ranMs: now.ranMs + ranMs,
      longestMs: Math.max(now.longestMs, ranMs),
    }));
  }
  return [...groups.values()].toSorted(
    (a, b) => b.ranMs - a.ranMs || (a.mnemonic < b.mnemonic ? -1 : 1),
  );
}

function byWorker(executed: readonly Executed[]): BuildTiming["workers"] {
  const groups = new Map<string, BuildTiming["workers"][number]>();
  for (const { action, started, finished } of executed) {
    if (action.worker === null) continue;
    const now = groups.get(action.worker) ?? { worker: action.worker, executed: 0, ranMs: 0 };
    groups.set(action.worker, {
      ...now,
      executed: now.executed + 1,
      ranMs: now.ranMs + finished - started,
    });
  }
  return [...groups.values()].toSorted((a, b) => b.ranMs - a.ranMs);
}

/**
 * Returns the chain of actions that the end of the build had to wait for, first to last.
 *
 * The farm does not know which action needs which. A build tool requests an action as soon as its inputs exist, so the
 * action that ended last before a request is most likely what the request waited for.
 */
function longestChain(executed: readonly Executed[]): Executed[] {
  const byEnd = executed.toSorted((a, b) => a.finished - b.finished);
  const chain: Executed[] = [];
  let at = byEnd.length - 1;
  while (at >= 0) {
    const step = byEnd[at];
    if (step === undefined) break;
    chain.push(step);
    at--;
    while (at >= 0 && (byEnd[at]?.finished ?? 0) > step.requested) at--;
  }
  return chain.reverse();
}

function stepsOf(chain: readonly Executed[]): BuildTiming["chain"] {
  return chain.map(({ action, executionId, requested, started, finished }, index) => {
    const before = chain[index - 1];
    return {
      executionId,
      target: action.target,
      mnemonic: action.mnemonic,
      worker: action.worker,
      toolMs: before === undefined ? 0 : Math.max(0, requested - before.finished),
      waitedMs: started - requested,
      ranMs: finished - started,
    };
  });
}
