import { join } from "node:path";
import type { Logger } from "pino";
import { recordAudit } from "#access/audit.store.ts";
import { deleteGrants, grantsOf, lockRights } from "#access/grant.store.ts";
import { anyone, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import { requireAnAdministrator } from "#access/rights-guard.ts";
import { Fault } from "#core/fault.ts";
import { isLoopback } from "#core/host-guard.ts";
import type { ServerConfig } from "./config.ts";
import { keepTokenInFile } from "./kept-token.ts";
import type { Services } from "./services.ts";

const plain = { repository: "*", branch: "*", priorityCap: null };

/**
 * Creates the tokens of the farm's owner, removes the rights of strangers if configured, and refuses to listen on a
 * reachable address while the farm is open. Runs before the first request is answered.
 */
export async function settleWhoMayEnter(
  { db, clock, callers }: Pick<Services, "db" | "clock" | "callers">,
  config: Pick<ServerConfig, "dataDir" | "host" | "allowOpen" | "ownerToken" | "close">,
  logger: Logger,
): Promise<void> {
  const { dataDir, host } = config;
  const now = clock.now();
  if (config.ownerToken || config.close) {
    const parts = { db, logger, now };
    await keepTokenInFile(parts, {
      file: join(dataDir, "owner-token"),
      principal: "owner",
      kind: "person",
      grant: { ...plain, verb: "*", top: true },
    });
    await keepTokenInFile(parts, {
      file: join(dataDir, "worker-token"),
      principal: "workers-here",
      kind: "worker",
      grant: { ...plain, verb: "work", top: false },
    });
  }
  if (config.close) {
    await db.transaction(async (tx) => {
      await lockRights(tx);
      const everywhere = { principal: anyone, repository: undefined, branch: undefined };
      const removed =
        (await deleteGrants(tx, { ...everywhere, verb: "*" })) +
        (await deleteGrants(tx, { ...everywhere, verb: "administer" }));
      if (removed === 0) return;
      await requireAnAdministrator(tx, now);
      const detail = { what: "remove grants", principal: anyone, where: "at start" };
      await recordAudit(tx, { actor: "grange", verb: "administer", detail });
    });
    callers.forgetAll();
  }
  if (isLoopback(host) || config.allowOpen) return;
  if (!mayDo({ name: anyone, grants: await grantsOf(db, anyone) }, "administer", wholeFarm)) return;
  throw new Fault(
    "failed_precondition",
    `refusing to listen on ${host}: this farm asks nobody for a token, so all who reach it could run commands ` +
      `here. \`grange server --data ${dataDir} --host ${host} --close\` makes a token of an owner, in ` +
      `${join(dataDir, "owner-token")}, and lets only who has a token do things. Or listen on 127.0.0.1; or set ` +
      "GRANGE_ALLOW_OPEN=1 when the network is yours alone",
  );
}
