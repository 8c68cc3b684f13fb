import { recordAudit } from "#access/audit.store.ts";
import type { retentionEndpoints } from "#api/endpoints/retention-endpoints.ts";
import type { Retention } from "#api/retention.ts";
import { Fault } from "#core/fault.ts";
import { allPlaces } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import {
  holdGraph,
  releaseGraph,
  removeRetentionRule,
  retentionHolds,
  retentionRules,
  setRetentionRule,
} from "#graphs/retention/retention-rule.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { retentionAges, setRetentionAge } from "../retention/retention-age.store.ts";
import { graphOfCall } from "./graph-of-call.ts";
import type { HandlerServices } from "./handler-services.ts";

const mostHolds = 1_000;

export function retentionHandlers({
  db,
  clock,
}: HandlerServices): HandlersFor<typeof retentionEndpoints> {
  /** Changes a setting, writes an entry in the audit log, and returns the new settings. */
  const change = (
    actor: string,
    what: string,
    work: (tx: Tx) => Promise<{ readonly graphId?: string } & Readonly<Record<string, unknown>>>,
  ) =>
    db.transaction(async (tx) => {
      const { graphId, ...detail } = await work(tx);
      await recordAudit(tx, { actor, verb: "administer", graphId, detail: { what, ...detail } });
      return standing(tx);
    });

  return {
    retention: () => standing(db),
    setRetentionRule: ({ body, caller }) =>
      change(caller.name, "set retention rule", async (tx) => {
        await setRetentionRule(tx, { ...body, setBy: caller.name }, clock.now());
        return body;
      }),
    removeRetentionRule: ({ body, caller }) =>
      change(caller.name, "remove retention rule", async (tx) => {
        if (!(await removeRetentionRule(tx, body.repository, body.branch))) {
          throw new Fault(
            "not_found",
            `there is no rule for the repository "${body.repository}" and the branch "${body.branch}"`,
          );
        }
        return body;
      }),
    setRetentionAge: ({ body, caller }) =>
      change(caller.name, "set retention age", async (tx) => {
        await setRetentionAge(tx, { ...body, setBy: caller.name }, clock.now());
        return body;
      }),
    holdGraph: ({ params, body, caller }) =>
      change(caller.name, "hold graph", async (tx) => {
        const { id: graphId } = await graphOfCall(tx, params.id, allPlaces);
        await holdGraph(tx, graphId, { ...body, by: caller.name }, clock.now());
        return { graphId, ...body };
      }),
    releaseHold: ({ params, body, caller }) =>
      change(caller.name, "release graph", async (tx) => {
        const { id: graphId } = await graphOfCall(tx, params.id, allPlaces);
        if (!(await releaseGraph(tx, graphId, body.label)))
          throw new Fault("not_found", `the graph ${graphId} has no label "${body.label}"`);
        return { graphId, ...body };
      }),
  };
}

async function standing(tx: Tx): Promise<Retention> {
  const rules = await retentionRules(tx);
  const holds = await retentionHolds(tx, mostHolds);
  return {
    rules: rules.map((rule) => ({ ...rule, setAt: rule.setAt.toISOString() })),
    ages: await retentionAges(tx),
    holds: holds.map((hold) => ({ ...hold, setAt: hold.setAt.toISOString() })),
  };
}
