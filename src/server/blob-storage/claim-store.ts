import { randomUUID } from "node:crypto";
import type { BlobStorage } from "#cas/blob-storage.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { lockFarm, makeFarm, storeIsClaimed } from "./farm.store.ts";
import { explainRefusal, judgeStore, type StoreSeen } from "./judge-store.ts";

/**
 * Checks that a store of blobs belongs to the farm, and returns the farm's id.
 *
 * Throws `failed_precondition` when it does not, before anything is read from the store or written to it.
 */
export async function claimStore(
  storage: Pick<BlobStorage, "owner" | "setOwner">,
  options: Pick<StoreSeen, "isAlone" | "adopt"> & {
    readonly db: Db;
    readonly clock: Clock;
    /** The location of the store, for the message. */
    readonly place: string;
  },
): Promise<string> {
  const { db, clock, place, isAlone, adopt } = options;
  // In a transaction of its own: the store must never contain an id that the database does not.
  await makeFarm(db, randomUUID(), clock.now());
  return db.transaction(async (tx) => {
    const { id, hasStore } = await lockFarm(tx);
    const owner = await storage.owner();
    const verdict = judgeStore({ farm: id, hasStore, owner, isAlone, adopt });
    switch (verdict.kind) {
      case "ours":
        break;
      case "claim":
        await storage.setOwner(id);
        break;
      case "refuse": {
        const { problem, fix } = explainRefusal(verdict.why, { place, farm: id, owner });
        throw new Fault("failed_precondition", `${problem}. ${fix}`);
      }
    }
    await storeIsClaimed(tx, clock.now());
    return id;
  });
}
