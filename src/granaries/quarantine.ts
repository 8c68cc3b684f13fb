import { releaseResults } from "#actions/quarantine-results.store.ts";
import type { Divergence } from "#api/granary.ts";
import { removeEntry } from "#caches/cache-entry.store.ts";
import { releaseEntry } from "#caches/quarantine-entries.store.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import type { Clock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { readableDomains } from "#core/readable-domains.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import type { Db, Tx } from "#db/db.ts";
import { entryNameOf, hide, keptResult } from "./hide-result.ts";
import {
  addQuarantine,
  countFoundBy,
  lockQuarantine,
  markReleased,
  releaseMadeFrom,
} from "./quarantine.store.ts";
import { actionHashOf } from "./same-result.ts";

/** More than a trustworthy farm has in a year, but too few to empty its cache. */
const defaultMostAnHour = 50;
const hourMs = 60 * 60_000;

interface QuarantineParts {
  readonly db: Db;
  readonly clock: Clock;
  /** The domain of the principal that found the divergence. */
  readonly domain: TrustDomain;
  readonly mostAnHour?: number;
}

/**
 * Puts a result into quarantine, because making it again gave another value. It is no longer served.
 *
 * Only if the farm still has the doubted value: nothing is known about a newer value. An entry that only the finder
 * reads is deleted instead: its writer could otherwise hide from others what they read under the same name. Returns
 * whether the value is returned to nobody any more.
 */
export async function quarantine(
  parts: QuarantineParts,
  project: string,
  divergence: Divergence,
  foundBy: string,
): Promise<boolean> {
  const { namespace, key } = divergence;
  const parsed = ResultKey.safeParse({ namespace, key });
  if (!parsed.success || divergence.kept === divergence.madeNow) return false;
  const doubted = parsed.data;
  const readable = readableDomains(parts.domain);
  return parts.db.transaction(async (tx) => {
    await lockQuarantine(tx, project);
    const kept = await keptResult(tx, project, doubted, ({ value, domain, isQuarantined }) => {
      if (!readable.includes(domain)) return false;
      return isQuarantined || digestKey(value) === divergence.kept;
    });
    if (kept === undefined) return false;
    if (kept.domain !== protectedDomain) {
      const own = entryNameOf(project, doubted);
      return own !== undefined && removeEntry(tx, own, kept.domain);
    }
    if (kept.isQuarantined) return true;
    await requireFew(parts, tx, project, foundBy);
    await addQuarantine(tx, { ...doubted, project, foundBy, producer: kept.producer, divergence });
    await hide(tx, project, doubted, kept);
    return true;
  });
}

async function requireFew(
  { clock, mostAnHour = defaultMostAnHour }: QuarantineParts,
  tx: Tx,
  project: string,
  foundBy: string,
): Promise<void> {
  const since = new Date(clock.now().getTime() - hourMs);
  if ((await countFoundBy(tx, project, foundBy, since, mostAnHour)) < mostAnHour) return;
  throw new Fault(
    "resource_exhausted",
    `${foundBy} has put ${mostAnHour} results of ${project} into quarantine within an hour, which is the limit; check that machine first`,
  );
}

/**
 * Releases a key from quarantine, and with it the results that were added because they were made from it. The stored
 * results are deleted, so that the next build makes them again.
 *
 * Throws `not_found` when it is not in quarantine.
 */
export async function release(
  tx: Tx,
  project: string,
  result: { readonly namespace: string; readonly key: string },
  by: string,
): Promise<void> {
  await lockQuarantine(tx, project);
  const key = ResultKey.safeParse(result);
  if (!key.success || !(await markReleased(tx, project, result, by))) {
    throw new Fault(
      "not_found",
      `${result.namespace} ${result.key} of project ${project} is not in quarantine`,
    );
  }
  for (const each of [key.data, ...(await releaseMadeFrom(tx, project, key.data, by))]) {
    const hash = actionHashOf(each);
    if (hash !== undefined) await releaseResults(tx, project, hash);
    const entry = entryNameOf(project, each);
    if (entry !== undefined) await releaseEntry(tx, entry);
  }
}
