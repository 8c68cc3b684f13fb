import type { Logger } from "pino";
import { endTemporaryRights, giveTemporaryRight } from "#access/temporary-right.store.ts";
import { cachedFor } from "#core/cached-for.ts";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { inTime } from "#core/in-time.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { AccountStanding } from "../forge.ts";
import type { Forges } from "../forge-services.ts";
import { dueReading, permittedUntil, type ReadingTimes, readingTimes } from "./due-readings.ts";
import {
  keepAccountId,
  keepReading,
  lockReading,
  principalsWithAccounts,
  type ReadingPair,
  readingsOf,
} from "./reader.store.ts";

/** Lets principals read the repositories that their accounts may read at the forge. */
export interface ForgeReaders extends Service {
  /**
   * Must be called before the rights of a principal are read. Calls the forge for what is old. Waits for the answers
   * only as long as a person would, and only when the principal may not read without them.
   */
  refresh(principal: string): Promise<void>;
  /** Must be called after accounts or policies have changed. */
  forgetAll(): void;
}

interface ForgeReadersParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly forges: Forges;
  readonly times?: ReadingTimes;
  readonly waitMs?: number;
}

/** How long a request waits for the forge, in ms. Until the answer comes, the principal may not read. */
const defaultWaitMs = 3_000;
/** How long the list of principals with accounts is reused, in ms. */
const listedForMs = 2_000;
/** The limits of calls: at the same time, and waiting in this server. What is beyond is called at the next request. */
const mostAtOnce = 4;
const mostWaiting = 500;
/** The most repositories of one principal that one request checks. */
const mostPerPrincipal = 50;

/**
 * After each answer, a right lasts for some minutes, so that it ends by itself when the forge does not answer any more.
 * Several servers may call the forge for the same right; the later answer counts.
 */
export function openForgeReaders(parts: ForgeReadersParts): ForgeReaders {
  const { db, clock, logger, forges, times = readingTimes, waitMs = defaultWaitMs } = parts;
  const now = () => clock.now().getTime();
  const listing = () => cachedFor(listedForMs, now, () => principalsWithAccounts(db));
  let withAccounts = listing();
  const underWay = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let calling = 0;
  let isStopped = false;

  const turn = async () => {
    if (calling >= mostAtOnce) await new Promise<void>((begin) => waiting.push(begin));
    else calling++;
  };
  const endTurn = () => {
    const next = waiting.shift();
    if (next === undefined) calling--;
    else next();
  };

  const read = async (principal: string, pair: ReadingPair): Promise<void> => {
    await turn();
    try {
      if (isStopped) return;
      const checkedAt = clock.now();
      const standing = await standingOf(forges, pair);
      await db.transaction(async (tx) => {
        const rule = await lockReading(tx, principal, pair);
        if (rule === undefined) return;
        const isSame = rule.accountId === null || rule.accountId === standing.accountId;
        const permission = isSame ? standing.permission : "none";
        if (standing.accountId !== undefined)
          await keepAccountId(tx, principal, pair.kind, standing.accountId);
        if (!(await keepReading(tx, principal, pair.repository, { permission, checkedAt }))) return;
        const right = { principal, repository: pair.repository, source: pair.kind };
        const until = permittedUntil({ permission, checkedAt }, rule.needed, times);
        if (until === undefined) await endTemporaryRights(tx, right);
        else await giveTemporaryRight(tx, right, until);
      });
    } finally {
      endTurn();
    }
  };

  /** Starts a call unless one is under way; returns its end. Failures are logged: an old answer stays until it is too old. */
  const begin = (principal: string, pair: ReadingPair): Promise<void> => {
    const key = `${principal} ${pair.repository}`;
    const known = underWay.get(key);
    if (known !== undefined) return known;
    if (waiting.length >= mostWaiting) return Promise.resolve();
    const reading = read(principal, pair)
      .catch((reason: unknown) => {
        const { repository, account } = pair;
        logger.warn(
          { repository, account, reason: messageOf(reason) },
          "a permission could not be read from its forge",
        );
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };

  return {
    async refresh(principal) {
      if (isStopped || !(await withAccounts()).has(principal)) return;
      const awaited: Promise<void>[] = [];
      for (const pair of await readingsOf(db, principal, mostPerPrincipal)) {
        const due = dueReading(pair.known, clock.now(), times);
        if (due === "known") continue;
        const reading = begin(principal, pair);
        if (due === "await") awaited.push(reading);
      }
      if (awaited.length > 0) await inTime(Promise.all(awaited), waitMs);
    },
    forgetAll() {
      withAccounts = listing();
    },
    async stop() {
      isStopped = true;
      await Promise.all(underWay.values());
    },
  };
}

/** An account that the forge does not know, and a repository that the farm cannot read there, give no permission. */
async function standingOf(
  forges: Forges,
  { kind, slug, account }: ReadingPair,
): Promise<AccountStanding> {
  const pulls = forges.find((forge) => forge.kind === kind)?.pullRequests;
  const nothing = { permission: "none", accountId: undefined } as const;
  if (pulls === undefined) return nothing;
  try {
    return await pulls.standing(slug, account);
  } catch (reason) {
    const isPermanent =
      reason instanceof Fault && ["not_found", "permission_denied"].includes(reason.code);
    if (isPermanent) return nothing;
    throw reason;
  }
}
