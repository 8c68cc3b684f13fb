import type { z } from "zod";
import type { AddCollector, ChangeCollector } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import {
  collectorsOfTarget,
  deleteCollector,
  findCollector,
  insertCollector,
  lockCollector,
  lockRegister,
  tracesOf,
  updateCollector,
} from "./collector.store.ts";

/** Registers a collector. It is listed immediately, also before its first contact. */
export async function addCollector(
  tx: Tx,
  wanted: z.output<typeof AddCollector>,
  by: string,
  now: Date,
): Promise<void> {
  await lockRegister(tx);
  if ((await findCollector(tx, wanted.name)) !== undefined) {
    throw new Fault(
      "already_exists",
      `there is already a collector ${wanted.name}; change it, or use another name`,
    );
  }
  if (wanted.active) await refuseSharedSet(tx, wanted);
  await insertCollector(tx, wanted, by, now);
  await notifyBenchmarkChange(tx);
}

/** Changes a collector; omitted values stay. A running job is ended first: the change applies from the next claim. */
export async function changeCollector(
  tx: Tx,
  name: string,
  change: ChangeCollector,
): Promise<void> {
  await lockRegister(tx);
  const before = await lockCollector(tx, name);
  if (before === undefined) throw noSuchCollector(name);
  const after = {
    ...before,
    active: change.active ?? before.active,
    set: change.set === undefined ? before.set : change.set,
    mayTakeOver: change.mayTakeOver ?? before.mayTakeOver,
    // A value that a person set stays until a person changes it.
    ...(change.outOfDuty === undefined
      ? {}
      : { outOfDuty: change.outOfDuty, outOfDutyByTest: false }),
  };
  if (after.active) await refuseSharedSet(tx, after);
  await updateCollector(tx, after);
  await notifyBenchmarkChange(tx);
}

/** Removes a collector without results: stored results name their collector. */
export async function removeCollector(tx: Tx, name: string): Promise<void> {
  await lockRegister(tx);
  if ((await lockCollector(tx, name)) === undefined) throw noSuchCollector(name);
  const { inHand, jobs, results } = await tracesOf(tx, name);
  const because =
    inHand !== null
      ? `works on job ${inHand}`
      : results
        ? "is named by results, which are not deleted"
        : jobs
          ? "is named by jobs that it ended"
          : undefined;
  if (because !== undefined) {
    throw new Fault("failed_precondition", `collector ${name} ${because}: deactivate it instead`);
  }
  await deleteCollector(tx, name);
  await notifyBenchmarkChange(tx);
}

export function noSuchCollector(name: string): Fault {
  return new Fault(
    "not_found",
    `there is no collector "${name}"; an administrator of the farm must add it`,
  );
}

async function refuseSharedSet(
  tx: Tx,
  {
    name,
    target,
    set,
  }: { readonly name: string; readonly target: string; readonly set: number | null },
): Promise<void> {
  const other = (await collectorsOfTarget(tx, target)).find(
    (peer) => peer.active && peer.set === set && peer.name !== name,
  );
  if (other === undefined) return;
  throw new Fault(
    "already_exists",
    `${set === null ? "all sets" : `set ${set}`} of ${target} ${set === null ? "are" : "is"} served by ${other.name}: ` +
      "results of two machines cannot be compared. Deactivate that one first, or use another set",
  );
}
