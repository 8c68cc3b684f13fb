import { recordAudit } from "#access/audit.store.ts";
import type { autoscalingEndpoints } from "#api/endpoints/autoscaling-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { spelledAlike } from "#core/platform.ts";
import {
  type DeclaredClass,
  declareClass,
  declaredClasses,
  undeclareClass,
} from "#size-classes/declared-classes.store.ts";
import type { ScaledClass } from "#size-classes/desired-workers-look.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

/** Handlers of autoscaling; a change of the declared classes is recorded in the audit log. */
export function autoscalingHandlers({
  db,
  clock,
  desiredWorkers,
}: Pick<HandlerServices, "db" | "clock" | "desiredWorkers">): HandlersFor<
  typeof autoscalingEndpoints
> {
  const declared = async () => (await declaredClasses(db)).map(declaredForPage);

  return {
    async autoscaling() {
      const { at, classes, unserved } = await desiredWorkers.look();
      return { at: at.toISOString(), classes: classes.map(scaledForPage), unserved };
    },

    declaredClasses: declared,

    async declareClass({ body, caller }) {
      const platform = spelledAlike(body.platform);
      await db.transaction(async (tx) => {
        const declaredAt = clock.now();
        await declareClass(tx, { ...body, platform, declaredBy: caller.name, declaredAt });
        await recordAudit(tx, {
          actor: caller.name,
          verb: "administer",
          detail: { what: "declare size class", ...body, platform },
        });
      });
      desiredWorkers.forget();
      return declared();
    },

    async undeclareClass({ body: { platform, sizeClass }, caller }) {
      const wasDeclared = await db.transaction(async (tx) => {
        const was = await undeclareClass(tx, platform, sizeClass);
        const detail = { what: "undeclare size class", platform, sizeClass };
        if (was) await recordAudit(tx, { actor: caller.name, verb: "administer", detail });
        return was;
      });
      desiredWorkers.forget();
      if (!wasDeclared) {
        throw new Fault(
          "not_found",
          `size class ${sizeClass} is not declared for that platform; \`grange size-class declared\` lists what is`,
        );
      }
      return declared();
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
