import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { leasesOfOthersNamed } from "../finishing/end-leases.store.ts";
import type { Lease } from "./lease.ts";
import { lockHolderOf, registerWorker, type WorkerDescription } from "./worker.store.ts";

/** The number of remembered processes; far more than send heartbeats to one server. */
const mostRemembered = 10_000;

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

  return {
    async register(worker) {
      const process = `${worker.name} ${worker.instanceId}`;
      const others = await db.transaction(async (tx) => {
        const now = clock.now();
        const holder = await lockHolderOf(tx, worker.name);
        if (holder !== undefined && !mayTakeOver(worker, holder)) throw notItsName(worker.name);
        const isTaken =
          holder !== undefined &&
          holder.instanceId !== worker.instanceId &&
          now.getTime() - holder.lastSeenAt.getTime() <= aliveMs;
        if (isTaken && cameBefore.has(process)) {
          throw new Fault(
            "already_exists",
            `there is already a worker ${worker.name}; use another --name`,
          );
        }
        await registerWorker(tx, worker, now);
        return leasesOfOthersNamed(tx, worker);
      });
      remember(process);
      return others;
    },
  };
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
