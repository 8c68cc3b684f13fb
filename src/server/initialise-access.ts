import { join } from "node:path";
import type { Logger } from "pino";
import { accessIsChosen, insertAccessChoice } from "#access/access-choice.store.ts";
import { accessSettingOf, isTooOpen, settingOfNewFarm } from "#access/access-setting.ts";
import { recordAudit } from "#access/audit.store.ts";
import { deleteGrants, grantsOf, lockRights } from "#access/grant.store.ts";
import { anyone } from "#access/principal.ts";
import { requireAnAdministrator } from "#access/rights-guard.ts";
import { setAccess } from "#access/set-access.ts";
import type { AccessSetting } from "#core/access-setting.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { isLoopback } from "#core/host-guard.ts";
import type { Db } from "#db/db.ts";
import type { ServerConfig } from "./config.ts";
import { keepTokenInFile } from "./kept-token.ts";
import type { Services } from "./services.ts";

/** The file of the owner's token in the data directory. */
const ownerToken = "owner-token";

type AccessConfig = Pick<
  ServerConfig,
  "dataDir" | "host" | "access" | "allowOpen" | "ownerToken" | "close"
>;

interface Parts {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Gives a new farm its access setting, creates the tokens of the farm's owner, removes the rights of strangers if
 * configured, and refuses to start when the farm is more open than the configuration allows. Runs before the first
 * request is answered.
 */
export async function initialiseAccess(
  { db, clock, callers }: Pick<Services, "db" | "clock" | "callers">,
  config: AccessConfig,
  logger: Logger,
): Promise<void> {
  const parts = { db, clock, logger };
  if (config.ownerToken || config.close) await keepTokens(parts, config.dataDir);
  const isNew = await chooseSetting(parts, config);
  if (config.close) await removeRightsOfStrangers(parts);
  callers.forgetAll();
  const setting = accessSettingOf(await grantsOf(db, anyone));
  requireStrictEnough(setting, config);
  logger.info({ access: setting }, "what callers without a token may do");
  if (isNew && setting !== "open") {
    logger.info(
      { file: join(config.dataDir, ownerToken) },
      `this new farm is ${setting}: its owner's token is in this file; sign in with it, or set GRANGE_TOKEN to it`,
    );
  }
}

/** Keeps tokens of an owner and of workers in the data directory, for the users of the farm's own machine. */
async function keepTokens({ db, clock, logger }: Parts, dataDir: string): Promise<void> {
  const plain = { repository: "*", branch: "*", priorityCap: null };
  const parts = { db, logger, now: clock.now() };
  await keepTokenInFile(parts, {
    file: join(dataDir, ownerToken),
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

/**
 * Gives a farm its setting at its first start; returns whether it did. When two servers start at once, only one of them
 * chooses.
 */
async function chooseSetting(parts: Parts, config: AccessConfig): Promise<boolean> {
  const { db, clock } = parts;
  const setting = settingOfNewFarm(config);
  if (await accessIsChosen(db)) return false;
  // Before the rights are removed: afterwards somebody must be able to administer the farm.
  if (setting !== "open") await keepTokens(parts, config.dataDir);
  return db.transaction(async (tx) => {
    await lockRights(tx);
    const now = clock.now();
    if (!(await insertAccessChoice(tx, "grange", now))) return false;
    const before = await setAccess(tx, setting, "grange", now);
    if (before === setting) return true;
    const detail = { what: "set access", access: setting, where: "at the first start" };
    await recordAudit(tx, { actor: "grange", verb: "administer", detail });
    return true;
  });
}

async function removeRightsOfStrangers({ db, clock }: Parts): Promise<void> {
  await db.transaction(async (tx) => {
    await lockRights(tx);
    const everywhere = { principal: anyone, repository: undefined, branch: undefined };
    const removed =
      (await deleteGrants(tx, { ...everywhere, verb: "*" })) +
      (await deleteGrants(tx, { ...everywhere, verb: "administer" }));
    if (removed === 0) return;
    await requireAnAdministrator(tx, clock.now());
    const detail = { what: "remove grants", principal: anyone, where: "at start" };
    await recordAudit(tx, { actor: "grange", verb: "administer", detail });
  });
}

/** Throws `failed_precondition` when callers without a token may do more than the configuration allows. */
function requireStrictEnough(setting: AccessSetting, config: AccessConfig): void {
  const { access, host, dataDir, allowOpen } = config;
  if (isTooOpen(setting, config)) {
    throw new Fault(
      "failed_precondition",
      `this farm is ${setting}, but --access (GRANGE_ACCESS) is ${access}: start the server without it, ` +
        `and change the farm with \`grange access set ${access}\``,
    );
  }
  if (setting !== "open" || isLoopback(host) || allowOpen) return;
  throw new Fault(
    "failed_precondition",
    `refusing to listen on ${host}: this farm requires no token, so everyone who reaches it could run commands ` +
      `here. \`grange server --data ${dataDir} --host ${host} --close\` makes a token of an owner, in ` +
      `${join(dataDir, ownerToken)}, and removes the rights of callers without one. Or listen on 127.0.0.1; or set ` +
      "GRANGE_ALLOW_OPEN=1 where only you reach the network",
  );
}
