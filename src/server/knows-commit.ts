import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { hourlyLimit } from "#granaries/hourly-limit.ts";
import type { KnowsCommit } from "#granaries/publish-index.ts";
import { addressOfRepository, knownRepository } from "#graphs/catalogs/known-repository.store.ts";
import type { Rooms } from "./open-rooms.ts";

const remembered = 10_000;
/** Each is a fetch from wherever the repository lies. */
const mostUnknownAnHour = 600;

/** Whether a repository that the farm knows has a commit. What it has once it has for good. */
export function knowsCommit({
  db,
  mirrors,
  clock,
}: Pick<Rooms, "db" | "mirrors" | "clock">): KnowsCommit {
  const known = recentlyUsed<true>(remembered);
  const countFetch = hourlyLimit(mostUnknownAnHour, "asked for unknown commits", clock);
  return async (repository, commit) => {
    const name = await knownRepository(db, repository);
    if (name === undefined) return "no such repository";
    const key = `${commit} ${name}`;
    if (known.peek(key) !== undefined) return "known";
    countFetch(name);
    try {
      await mirrors.fetchCommit(await addressOfRepository(db, name), commit);
    } catch (reason) {
      if (reason instanceof Fault && absences.has(reason.code)) return "unknown";
      throw reason;
    }
    known.set(key, true);
    return "known";
  };
}

const absences: ReadonlySet<Fault["code"]> = new Set(["not_found", "failed_precondition"]);
