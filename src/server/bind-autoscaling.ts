import { type Principal, wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { Autoscaling } from "#api/autoscaling.ts";
import { spelledAlike } from "#core/platform.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import {
  type DeclaredClass,
  declareClass,
  declaredClasses,
  undeclareClass,
} from "#size-classes/declared-classes.store.ts";
import type { ScaledClass } from "#size-classes/desired-workers-look.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import type { AutoscalingFarm } from "./http/autoscaling-farm.ts";
import type { Services } from "./services.ts";

/** Autoscaling, for the HTTP API. What is declared leaves an entry in the audit. */
export function bindAutoscaling(
  { db, clock }: Pick<Services, "db" | "clock">,
  service: DesiredWorkersService,
): AutoscalingFarm {
  const declared = async () => (await declaredClasses(db)).map(declaredForPage);
  const audited = (by: Principal, detail: Readonly<Record<string, unknown>>) => ({
    actor: by.name,
    verb: "administer" as const,
    detail,
  });

  return {
    async autoscaling(): Promise<Autoscaling> {
      const { at, classes, unserved } = await service.look();
      return { at: at.toISOString(), classes: classes.map(scaledForPage), unserved };
    },

    declaredClasses: declared,

    async declareClass(wanted, by) {
      requireGrant(by, "administer", wholeFarm);
      const platform = spelledAlike(wanted.platform);
      await db.transaction(async (tx) => {
        const declaredAt = clock.now();
        await declareClass(tx, { ...wanted, platform, declaredBy: by.name, declaredAt });
        await recordAudit(tx, audited(by, { what: "declare size class", ...wanted, platform }));
      });
      service.forget();
      return declared();
    },

    async undeclareClass({ platform, sizeClass }, by) {
      requireGrant(by, "administer", wholeFarm);
      const removed = await db.transaction(async (tx) => {
        const was = await undeclareClass(tx, platform, sizeClass);
        const detail = { what: "undeclare size class", platform, sizeClass };
        if (was) await recordAudit(tx, audited(by, detail));
        return was;
      });
      service.forget();
      return removed;
    },
  };
}

function declaredForPage({ declaredAt, ...rest }: DeclaredClass) {
  return { ...rest, declaredAt: declaredAt.toISOString() };
}

function scaledForPage({ declared, drain, ...rest }: ScaledClass) {
  return {
    ...rest,
    isDeclared: declared !== undefined,
    leastWorkers: declared?.leastWorkers ?? 0,
    mostWorkers: declared?.mostWorkers ?? null,
    drain: [...drain],
  };
}
