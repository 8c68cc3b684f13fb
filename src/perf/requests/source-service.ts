import type { FoundArtifacts } from "#artifacts/find-artifacts.ts";
import type { KnownArtifact } from "#artifacts/known-artifacts.ts";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { beginSuiteCheck, endSuiteCheck, lockSuite, type StoredSuite } from "../suites.store.ts";
import { keepArtifacts } from "./artifact.store.ts";
import { readyRequestsOf } from "./request.store.ts";

/** Queries npm or Git; a parameter, so that tests need no network. */
export type AskSource = (
  suite: Suite,
  options: { readonly signal?: AbortSignal },
) => Promise<FoundArtifacts>;

/** An unknown tag causes at most one query of the source in this time, however often it is requested. In ms. */
const restMs = 20_000;
/** npm answers within seconds, for the largest known package within twenty. */
const waitLimitMs = 120_000;

export interface SourceService {
  /** Reads a suite's source and stores its artifacts; joins a read in progress. */
  look(suite: StoredSuite): Promise<FoundArtifacts>;
  /** Returns the source's information about a tag, from the last query if that was recent. Throws `not_found`. */
  resolve(suite: StoredSuite, tag: string): Promise<KnownArtifact>;
}

/** The result of the last query. */
type Seen = { readonly at: number } & (
  | { readonly found: FoundArtifacts }
  | { readonly failed: unknown }
);

/** Queries sources for artifacts: one query per suite at a time; suites do not wait for each other. */
export function sourceService({
  db,
  clock,
  ask,
  signal = new AbortController().signal,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly ask: AskSource;
  /** Aborts reads in progress, so that a stop does not wait for an unresponsive source. */
  readonly signal?: AbortSignal;
}): SourceService {
  const looks = new Map<string, Promise<FoundArtifacts>>();
  const seen = new Map<string, Seen>();

  const lookNow = async ({ name, digest, definition }: StoredSuite) => {
    try {
      await beginSuiteCheck(db, name, clock.now(), clock.now());
      const found = await ask(definition, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(waitLimitMs)]),
      });
      await db.transaction(async (tx) => {
        // The first of all locks, as everywhere.
        await lockSuite(tx, name);
        const ready = await keepArtifacts(tx, name, found.artifacts, clock.now());
        await endSuiteCheck(tx, name, null);
        if ((await readyRequestsOf(tx, ready)) > 0) await notifyBenchmarkChange(tx, name);
      });
      seen.set(digest, { at: clock.now().getTime(), found });
      return found;
    } catch (reason) {
      seen.set(digest, { at: clock.now().getTime(), failed: reason });
      // A stop of this process is not a problem of the source.
      if (!signal.aborted) await endSuiteCheck(db, name, messageOf(reason)).catch(() => {});
      throw reason;
    }
  };

  const look = (suite: StoredSuite) => {
    const underWay = looks.get(suite.digest);
    if (underWay !== undefined) return underWay;
    const begun = lookNow(suite).finally(() => looks.delete(suite.digest));
    looks.set(suite.digest, begun);
    return begun;
  };

  return {
    look,
    async resolve(suite, tag) {
      if (suite.definition.artifacts.from === "nowhere") {
        throw new Fault(
          "not_found",
          `the farm does not know ${tag}, and ${suite.name} has no source of artifacts: send a tarball for each backend`,
        );
      }
      const last = seen.get(suite.digest);
      if (last === undefined || clock.now().getTime() - last.at >= restMs) {
        return (await look(suite)).resolve(tag);
      }
      if ("failed" in last) throw last.failed;
      return last.found.resolve(tag);
    },
  };
}
