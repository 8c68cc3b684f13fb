import { anyone, type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant, requireGrantSomewhere } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";
import type { Platform } from "#core/platform.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { type Lease, leaseKey, type WorkerProcess } from "#execution/leasing/lease.ts";
import type { WorkerDescription } from "#execution/leasing/worker.store.ts";
import type { Held } from "#execution/leasing/worker-principal.store.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { judgeLease } from "./judge-lease.ts";

/** Checks which worker a caller may act for, and which leases it may name. */
export interface WorkerGate {
  /** Returns the description with its principal. Throws when the caller may not serve the worker's pool. */
  admit(context: CallContext, worker: WorkerDescription): Promise<WorkerDescription>;
  /** Called after the worker is registered. */
  admitted(worker: WorkerDescription): void;
  /** Throws for callers that may not act for the process. */
  requireProcess(context: CallContext, process: WorkerProcess): Promise<void>;
  /** Records the leases handed to a process that `requireProcess` has accepted. */
  handedOut(context: CallContext, leases: readonly Lease[]): Promise<void>;
  /** Returns for each lease whether the caller holds it. Throws when the caller may not work at all. */
  areHis(
    context: CallContext,
    worker: string,
    leases: readonly Lease[],
  ): Promise<readonly boolean[]>;
}

/** For a queue without rules of access. */
export const openGate: WorkerGate = {
  admit: async (_, worker) => worker,
  admitted: () => {},
  requireProcess: async () => {},
  handedOut: async () => {},
  areHis: async (_, __, leases) => leases.map(() => true),
};

interface WorkerGateParts {
  readonly callerOf: (context: CallContext) => Promise<Principal>;
  readonly standingOf: (
    process: WorkerProcess,
  ) => Promise<{ readonly principal: string; readonly platform: Platform } | undefined>;
  readonly holdersOf: (ids: readonly ExecutionId[]) => Promise<readonly Held[]>;
  /** Called for an offence, which Grange's own worker never commits. */
  readonly offended: (offence: {
    readonly principal: string;
    readonly worker: string;
    readonly what: string;
  }) => Promise<void>;
}

/** About a hundred bytes each; more than workers hold at one server, so that the database is rarely queried. */
const mostLeases = 100_000;
const mostProcesses = 20_000;

interface Standing {
  readonly principal: string;
  readonly pool: string;
}

/** Returns the value that a worker offers as `pool`; workers without one share a pool. */
function poolOf(platform: Platform): string {
  return platform["pool"] ?? "default";
}

/**
 * Restricts each worker to its own leases: a principal acts for the processes that it registered, and ends, extends or
 * logs to their leases only.
 *
 * This server remembers the leases that it granted. For other leases, after a restart or with several servers, it reads
 * the database. Leases are not checked for principals that administer the farm, which on an open farm is every caller.
 */
export function workerGate(parts: WorkerGateParts): WorkerGate {
  const processes = recentlyUsed<Standing>(mostProcesses);
  const leaseHolders = recentlyUsed<string>(mostLeases);

  const callerOf = async (context: CallContext): Promise<Principal> => {
    const caller = await parts.callerOf(context);
    const { name, quarantine } = caller;
    if (quarantine === undefined) return caller;
    throw new Fault(
      "permission_denied",
      `${name} is quarantined, because it ${quarantine}: somebody who administers the farm lets it work ` +
        `again with \`grange worker release ${name}\``,
    );
  };

  const standingOf = async (process: WorkerProcess): Promise<Standing | undefined> => {
    const key = processKey(process);
    const known = processes.peek(key);
    if (known !== undefined) return known;
    const found = await parts.standingOf(process);
    if (found === undefined) return undefined;
    const standing = { principal: found.principal, pool: poolOf(found.platform) };
    processes.set(key, standing);
    return standing;
  };

  return {
    async admit(context, worker) {
      const caller = await callerOf(context);
      requireGrant(caller, "work", { ...wholeFarm, pool: poolOf(worker.platform) });
      const mayTakeAnyName = mayDo(caller, "administer", wholeFarm);
      return { ...worker, principal: caller.name, mayTakeAnyName };
    },

    admitted({ principal = anyone, platform, ...process }) {
      processes.set(processKey(process), { principal, pool: poolOf(platform) });
    },

    async requireProcess(context, process) {
      const caller = await callerOf(context);
      const standing = await standingOf(process);
      if (standing === undefined) {
        // No process has this name: the queue reports that it is unknown.
        requireGrantSomewhere(caller, "work");
        return;
      }
      const { principal, pool } = standing;
      requireGrant(caller, "work", { ...wholeFarm, pool });
      if (principal === caller.name || mayDo(caller, "administer", wholeFarm)) return;
      await parts.offended({
        principal: caller.name,
        worker: process.name,
        what: `called as the worker ${process.name}, which is another principal's`,
      });
      throw new Fault(
        "permission_denied",
        `the worker ${process.name} belongs to another principal`,
      );
    },

    async handedOut(context, leases) {
      // The token may have been revoked during the wait.
      const { name } = await callerOf(context);
      for (const lease of leases) leaseHolders.set(leaseKey(lease), name);
    },

    async areHis(context, worker, leases) {
      const caller = await callerOf(context);
      requireGrantSomewhere(caller, "work");
      if (mayDo(caller, "administer", wholeFarm)) return leases.map(() => true);
      const isRemembered = (lease: Lease) => leaseHolders.peek(leaseKey(lease)) === caller.name;
      const remembered = leases.map(isRemembered);
      if (remembered.every(Boolean)) return remembered;
      const unknown = leases.filter((_, index) => remembered[index] !== true);
      const held = new Map(
        (await parts.holdersOf(unknown.map(({ executionId }) => executionId))).map((each) => [
          each.executionId,
          each,
        ]),
      );
      let worst: string | undefined;
      const answers = leases.map((lease, index) => {
        if (remembered[index] === true) return true;
        const standing = judgeLease(lease, held.get(lease.executionId), caller.name);
        if (standing === "own") leaseHolders.set(leaseKey(lease), caller.name);
        if (standing === "foreign")
          worst = `named the lease of another's worker, ${leaseKey(lease)}`;
        if (standing === "forged")
          worst = `named a lease that nobody was given, ${leaseKey(lease)}`;
        return standing === "own";
      });
      if (worst !== undefined) {
        await parts.offended({ principal: caller.name, worker, what: worst });
      }
      return answers;
    },
  };
}

function processKey({ name, instanceId }: WorkerProcess): string {
  return `${name} ${instanceId}`;
}
