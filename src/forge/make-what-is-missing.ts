import { Fault, messageOf } from "#core/fault.ts";
import {
  type ForgeGraph,
  forgetForgeGraph,
  graphsOfCommit,
  graphsToTell,
  insertForgeGraph,
  markGraphsUnneeded,
  noteTold,
} from "./forge-graph.store.ts";
import { forgePrincipal } from "./forge-principal.ts";
import type { ForgeServices, Held } from "./forge-services.ts";
import { requireHolding } from "./holding.store.ts";
import { type KnownPull, livePulls, settlePull } from "./pull.store.ts";
import { knownRefs, settleRef } from "./ref.store.ts";
import { requestsUnderWay } from "./reports/subject.store.ts";
import { tellOf } from "./reports/tell-reports.ts";
import { findWatched } from "./repository.store.ts";
import { wantHeldCheck, wantProblemCheck } from "./tell-of-problems.ts";
import {
  graphIdFor,
  namedGraphOf,
  type RefToMake,
  refsToMake,
  situationKey,
  situationOf,
} from "./what-to-make.ts";
import { isForGood } from "./when-to-try-again.ts";

/**
 * Makes the missing graphs and reports for a repository's commits and pull requests, and ends graphs that are no longer
 * needed. A failure of one does not stop the others; returns the temporary ones.
 */
export async function makeWhatIsMissing(services: ForgeServices, held: Held): Promise<Error[]> {
  const { db } = services;
  const { name } = held.repository;
  const now = await findWatched(db, name);
  if (now === undefined) return [];
  const current: Held = { ...held, repository: now };
  const troubles: Error[] = [];
  const each = async (work: () => Promise<void>) => {
    held.signal.throwIfAborted();
    try {
      await work();
    } catch (reason) {
      held.signal.throwIfAborted();
      troubles.push(reason instanceof Error ? reason : new Error(messageOf(reason)));
    }
  };

  const refs = refsToMake(await knownRefs(db, name), now.defaultBranch, now.policy);
  for (const ref of refs) await each(() => makeForRef(services, current, ref));
  for (const pull of await livePulls(db, name))
    await each(() => makeForPull(services, current, pull));
  await each(() => tellUnwanted(services, current));
  return troubles;
}

async function makeForRef(services: ForgeServices, held: Held, made: RefToMake): Promise<void> {
  const { repository, holding } = held;
  const { ref, head, bench } = made;
  const noGraph = await problemOf(async () => {
    if (made.graph) await makeGraph(services, held, { ref, sha: head, pull: null, isFork: false });
  });
  const unmeasured = bench && (await problemOf(() => measure(services, held, bench)));
  await services.db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    if (noGraph !== null) {
      const check = { sha: head, isFork: false };
      await wantProblemCheck(tx, services, held, check, noGraph);
    }
    // The check run is about the graph: missing measurements are not the commit's fault.
    const problem = noGraph ?? (unmeasured ? `not measured: ${unmeasured}` : null);
    await settleRef(tx, repository.name, { ref, head, problem });
  });
}

async function makeForPull(services: ForgeServices, held: Held, pull: KnownPull): Promise<void> {
  const { db, clock } = services;
  const { repository, holding } = held;
  const { number, head } = pull;
  const situation = situationOf(pull, repository.policy);
  const settled = situationKey(situation);
  if (settled === pull.settled) return;

  const keep = situation.kind === "graph" ? situation.head : undefined;
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    await markGraphsUnneeded(tx, {
      repository: repository.name,
      pull: number,
      keep,
      now: clock.now(),
    });
  });
  if (situation.kind === "over" && !situation.isMerged)
    await cancelMeasuring(services, held, number);
  const problem =
    situation.kind !== "graph"
      ? null
      : await problemOf(() =>
          makeGraph(services, held, {
            ref: `refs/pull/${number}/head`,
            sha: head,
            pull: number,
            isFork: pull.isFork,
          }),
        );
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    if (problem !== null) {
      const check = { sha: head, isFork: pull.isFork };
      await wantProblemCheck(tx, services, held, check, problem);
    }
    if (situation.kind === "held") await wantHeldCheck(tx, services, held, head);
    await settlePull(tx, repository.name, { number, head, settled, problem });
  });
}

/** Returns why something is permanently impossible for this commit; null on success. Throws temporary errors. */
async function problemOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (reason) {
    if (isForGood(reason)) return messageOf(reason);
    throw reason;
  }
}

async function makeGraph(
  services: ForgeServices,
  held: Held,
  wanted: Pick<ForgeGraph, "ref" | "sha" | "pull"> & { readonly isFork: boolean },
): Promise<void> {
  const { db, clock, service } = services;
  const { repository, forge, holding } = held;
  const { name, policy, slug, url } = repository;
  const { ref, sha, pull, isFork } = wanted;
  const named = namedGraphOf(policy, isFork);
  const outsiders = isFork
    ? {
        network: policy.forkNetwork,
        platform: policy.forkPlatform,
        isolation: policy.forkIsolation === "any" ? undefined : policy.forkIsolation,
      }
    : undefined;
  const id = await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    const [latest] = await graphsOfCommit(tx, { repository: name, ref, sha });
    if (latest !== undefined && latest.cancelledAt === null) return latest.id;
    const generation = (latest?.generation ?? 0) + 1;
    const made = graphIdFor({ repository: name, ref, sha, named, generation });
    const now = clock.now();
    await insertForgeGraph(tx, {
      id: made,
      repository: name,
      ref,
      sha,
      pull,
      generation,
      madeAt: now,
    });
    return made;
  });
  const address = await forge.fetchAddress(slug);
  const submission = { id, address, url, ref, sha, named, outsiders };
  try {
    await service.submitGraph(submission, forgePrincipal(name));
  } catch (reason) {
    // The graph does not and will not exist, so it must be neither shown nor cancelled.
    if (isForGood(reason)) await db.transaction((tx) => forgetForgeGraph(tx, id));
    throw reason;
  }
  // A graph is shown as a check run.
  if (forge.checks === undefined) return;
  await db.transaction((tx) =>
    tellOf(
      tx,
      {
        repository: name,
        kind: "graph",
        subject: id,
        sha,
        pull: pull ?? undefined,
        name: named ?? "grange",
        wasRequested: false,
      },
      clock.now(),
    ),
  );
}

async function measure(
  { service }: ForgeServices,
  { repository }: Held,
  { kind, artifact }: NonNullable<RefToMake["bench"]>,
): Promise<void> {
  const { suite } = repository.policy;
  if (suite === undefined) return;
  const wanted = { suite, artifact, kind, waitForArtifacts: true };
  await service.requestBenchmark(wanted, forgePrincipal(repository.name));
}

async function cancelMeasuring(
  { db, service }: ForgeServices,
  { repository: { name } }: Held,
  pull: number,
): Promise<void> {
  const by = forgePrincipal(name);
  for (const { id, isShared } of await requestsUnderWay(db, name, pull)) {
    if (!isShared) await service.cancelBenchmark(id, by);
  }
}

/** Cancels graphs that are no longer needed, also those from before a crash. */
async function tellUnwanted(
  { db, service }: ForgeServices,
  { repository, holding }: Held,
): Promise<void> {
  const by = forgePrincipal(repository.name);
  for (const { id } of await graphsToTell(db, repository.name)) {
    await service.cancelGraph(id, by).catch((reason: unknown) => {
      // It was never made.
      if (!(reason instanceof Fault && reason.code === "not_found")) throw reason;
    });
    await db.transaction(async (tx) => {
      await requireHolding(tx, holding);
      await noteTold(tx, id);
    });
  }
}
