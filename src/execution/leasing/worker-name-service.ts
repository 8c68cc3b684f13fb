import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { leasesOfOthersNamed } from "../finishing/end-leases.store.ts";
import type { Lease } from "./lease.ts";
import {
  type Holder,
  lockHoldersOf,
  registerWorkers,
  type WorkerDescription,
} from "./worker.store.ts";

/** The number of remembered processes; far more than send heartbeats to one server. */
const mostRemembered = 10_000;
/** The most workers in one transaction: those of a farm come all at once when its server starts again. */
const mostAtOnce = 200;

interface WorkerNameService {
  /**
   * Assigns a name to a worker process; returns the leases that other processes of that name still hold.
   *
   * Throws `already_exists` when a live process has taken the name over, and `permission_denied` when the name is
   * another principal's.
   */
  register(worker: WorkerDescription): Promise<Lease[]>;
}

/**
 * Decides which process holds a worker's name.
 *
 * A process that was never seen gets its name at once: it is a restarted worker, and its executions must not wait until
 * the earlier process counts as lost. A process that comes back after it was replaced is a second machine with the same
 * name; the two would take each other's executions forever.
 *
 * Only this server remembers earlier processes. With several servers, or after a restart, the name changes once more
 * and then stays.
 */
export function workerNameService(parts: {
  readonly db: Db;
  readonly clock: Clock;
  /** A process that was seen within this time may still be alive. */
  readonly aliveMs: number;
}): WorkerNameService {
  const { db, clock, aliveMs } = parts;
  const cameBefore = new Set<string>();

  const remember = (process: string) => {
    // The newest are last.
    cameBefore.delete(process);
    cameBefore.add(process);
    if (cameBefore.size <= mostRemembered) return;
    const [oldest] = cameBefore;
    if (oldest !== undefined) cameBefore.delete(oldest);
  };

  /** Returns why a worker may not have its name now; undefined when it may. */
  const refusalOf = (worker: WorkerDescription, holder: Holder | undefined, now: Date) => {
    if (holder === undefined) return undefined;
    if (!mayTakeOver(worker, holder)) return notItsName(worker.name);
    const isTaken =
      holder.instanceId !== worker.instanceId &&
      now.getTime() - holder.lastSeenAt.getTime() <= aliveMs;
    if (!isTaken || !cameBefore.has(processKey(worker))) return undefined;
    return new Fault(
      "already_exists",
      `there is already a worker ${worker.name}; use another --name`,
    );
  };

  /** Registers workers with different names. */
  const registerAll = async (
    tx: Tx,
    workers: readonly WorkerDescription[],
  ): Promise<Map<WorkerDescription, Registered>> => {
    const now = clock.now();
    const holders = await lockHoldersOf(
      tx,
      workers.map(({ name }) => name),
    );
    const holderOf = new Map(holders.map((holder) => [holder.name, holder]));
    const outcomes = new Map<WorkerDescription, Registered>();
    const accepted = new Map<string, WorkerDescription>();
    for (const worker of workers) {
      const reason = refusalOf(worker, holderOf.get(worker.name), now);
      if (reason === undefined) accepted.set(worker.name, worker);
      else outcomes.set(worker, { kind: "refused", reason });
    }
    await registerWorkers(tx, [...accepted.values()], now);
    const leases = new Map<string, Lease[]>([...accepted.keys()].map((name) => [name, []]));
    for (const { worker, lease } of await leasesOfOthersNamed(tx, [...accepted.values()]))
      leases.get(worker)?.push(lease);
    for (const [name, worker] of accepted)
      outcomes.set(worker, { kind: "registered", leases: leases.get(name) ?? [] });
    return outcomes;
  };

  const registering = coalescer(async (workers: readonly WorkerDescription[]) => {
    const outcomes = await db.transaction(async (tx) => {
      const all = new Map<WorkerDescription, Registered>();
      let left = workers;
      // Of two processes with one name, the second one replaces the first.
      while (left.length > 0) {
        const first = new Map(left.toReversed().map((worker) => [worker.name, worker]));
        for (const [worker, outcome] of await registerAll(tx, [...first.values()]))
          all.set(worker, outcome);
        left = left.filter((worker) => first.get(worker.name) !== worker);
      }
      return all;
    });
    return workers.map((worker) => outcomes.get(worker) ?? neverRegistered(worker));
  }, mostAtOnce);

  return {
    async register(worker) {
      // An object of its own for each call, by which its outcome is found.
      const outcome = await registering.add({ ...worker });
      if (outcome.kind === "refused") throw outcome.reason;
      remember(processKey(worker));
      return outcome.leases;
    },
  };
}

/** The outcome for one of the workers that register at the same time. */
type Registered =
  | { readonly kind: "registered"; readonly leases: Lease[] }
  | { readonly kind: "refused"; readonly reason: Fault };

function neverRegistered({ name }: WorkerDescription): never {
  throw new Error(`the worker ${name} has no outcome`);
}

function processKey({ name, instanceId }: WorkerDescription): string {
  return `${name} ${instanceId}`;
}

/** Workers from the time before access rules belong to `anyone`, and return with their own tokens. */
function mayTakeOver(
  { principal = anyone, mayTakeAnyName = false }: WorkerDescription,
  holder: { readonly principal: string },
): boolean {
  return mayTakeAnyName || holder.principal === principal || holder.principal === anyone;
}

/** The principal of callers without a token. */
const anyone = "anyone";

function notItsName(name: string): Fault {
  return new Fault(
    "permission_denied",
    `the worker ${name} belongs to another principal; use another --name, or the token of that principal`,
  );
}
