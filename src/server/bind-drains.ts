import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { addDrain, type Drain, listDrains, removeDrain } from "#execution/drain.store.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import type { DrainFarm } from "./http/drain-farm.ts";
import type { Services } from "./services.ts";

/** Drains, for the HTTP API. Each change leaves an entry in the audit. */
export function bindDrains({ db, clock }: Pick<Services, "db" | "clock">): DrainFarm {
  const drains = async () => (await listDrains(db)).map(forPage);
  const audited = (by: Principal, detail: Readonly<Record<string, unknown>>) => ({
    actor: by.name,
    verb: "administer" as const,
    detail,
  });

  return {
    drains,

    async addDrain({ pattern, reason }, by) {
      requireGrant(by, "administer", wholeFarm);
      await db.transaction(async (tx) => {
        await addDrain(tx, { pattern, reason, createdBy: by.name, createdAt: clock.now() });
        await recordAudit(tx, audited(by, { what: "drain workers", pattern, reason }));
      });
      return drains();
    },

    async removeDrain(pattern, by) {
      requireGrant(by, "administer", wholeFarm);
      return db.transaction(async (tx) => {
        const removed = await removeDrain(tx, pattern);
        if (removed) await recordAudit(tx, audited(by, { what: "end drain", pattern }));
        return removed;
      });
    },
  };
}

function forPage({ createdAt, ...drain }: Drain) {
  return { ...drain, createdAt: createdAt.toISOString() };
}
