import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { countOnce } from "#granaries/hourly-count.store.ts";
import type { KnowsCommit } from "#granaries/publish-index.ts";
import { addressOfRepository, knownRepository } from "#graphs/catalogs/known-repository.store.ts";
import type { Services } from "./services.ts";

const remembered = 10_000;
/** Each is a fetch from the repository's server. */
const defaultMostUnknownAnHour = 600;

/**
 * Returns whether a known repository has a commit. A positive answer stays true, and a lookup in the mirror is free. A
 * fetch counts against the caller's quota, so that no caller uses up the fetches of others.
 */
export function knowsCommit(
  { db, mirrors }: Pick<Services, "db" | "mirrors">,
  most: number = defaultMostUnknownAnHour,
): KnowsCommit {
  const known = recentlyUsed<true>(remembered);
  return async (repository, commit, principal) => {
    const name = await knownRepository(db, repository);
    if (name === undefined) return "no such repository";
    const key = `${commit} ${name}`;
    if (known.peek(key) !== undefined) return "known";
    const address = await addressOfRepository(db, name);
    try {
      if (!(await mirrors.hasCommit(address, commit))) {
        const what = `asked for commits that ${name} may have`;
        await countOnce(db, { what, who: principal, most });
        await mirrors.fetchCommit(address, commit);
      }
    } catch (reason) {
      if (reason instanceof Fault && absences.has(reason.code)) return "unknown";
      throw reason;
    }
    known.set(key, true);
    return "known";
  };
}

const absences: ReadonlySet<Fault["code"]> = new Set(["not_found", "failed_precondition"]);
