import type { z } from "zod";
import { mostRuns, type SubmitBenchmarkRequest } from "#api/benchmark-request.ts";
import type { Components } from "#artifacts/component.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import { allSuites, findSuite, lockSuite, type StoredSuite } from "../suites.store.ts";
import {
  addArtifact,
  addComponents,
  findArtifact,
  keepArtifacts,
  newestMaster,
  type StoredArtifact,
} from "./artifact.store.ts";
import { type Answered, createOrExtendRequest } from "./create-or-extend-request.ts";
import { ownJobs } from "./plan-request.ts";
import { readyRequestsOf } from "./request.store.ts";
import type { SourceService } from "./source-service.ts";

type Submitted = z.output<typeof SubmitBenchmarkRequest>;

export interface SubmitServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly sources: SourceService;
  /** Returns those of these blobs (`HASH/SIZE`) that the farm does not have. */
  missingBlobs(digests: readonly string[]): Promise<readonly string[]>;
}

/**
 * Accepts a request: finds or creates its artifact, and requests its measurement. `record` runs in the same
 * transaction.
 */
export async function submitRequest(
  services: SubmitServices,
  request: Submitted,
  by: string,
  record: (tx: Tx, answered: Answered) => Promise<void>,
): Promise<Answered> {
  const { db, clock } = services;
  const known = await findSuite(db, request.suite);
  if (known === undefined) throw await noSuite(db, request.suite);
  requireWords(known.definition, request);
  const submitted = { ...request, ...(await resolveUnknownTags(services, known, request)) };
  const parts = Object.values(submitted.tarballs ?? {});
  const missing = await services.missingBlobs(parts);
  if (missing.length > 0 && !submitted.waitForArtifacts) {
    throw new Fault(
      "failed_precondition",
      `the farm does not have ${missing.join(", ")}: upload the tarballs first, or set waitForArtifacts`,
    );
  }
  return db.transaction(async (tx) => {
    const suite = await lockSuite(tx, submitted.suite);
    if (suite === undefined) throw await noSuite(tx, submitted.suite);
    const now = clock.now();
    if (submitted.parents === "alone" && submitted.parent !== undefined) {
      throw new Fault(
        "invalid_argument",
        "an artifact that is measured alone has no parent: omit one of the two",
      );
    }
    const named =
      submitted.parent === undefined
        ? undefined
        : await requireArtifact(tx, suite.name, submitted.parent);
    const parent = submitted.parents === "alone" ? null : named;
    const artifact = await artifactFor(tx, suite, submitted, named, now);
    requireRuns(suite.definition, submitted.runs);
    if (named?.id === artifact.id) {
      throw new Fault(
        "invalid_argument",
        `${artifact.tag} cannot be compared with itself: name another parent, or none`,
      );
    }
    const answered = await createOrExtendRequest(
      tx,
      suite,
      {
        ...submitted,
        artifact,
        parent,
        kind: kindFor(artifact, submitted.kind),
        pr: submitted.pr ?? null,
        paired: submitted.paired ?? suite.definition.pairs.default,
        runs: submitted.runs ?? null,
        by,
        because: "",
      },
      now,
    );
    await record(tx, answered);
    return answered;
  });
}

/**
 * Searches for an unknown tag before the request is refused; outside of transactions, because it may take long.
 *
 * Returns the tags under which the farm knows the artifacts: for a commit, for example, a prefix of the requested id.
 */
async function resolveUnknownTags(
  { db, clock, sources }: SubmitServices,
  suite: StoredSuite,
  { artifact, parent, tarballs, waitForArtifacts }: Submitted,
): Promise<{ artifact: string; parent?: string }> {
  const isGiven = tarballs !== undefined || waitForArtifacts;
  const knownAs = async (tag: string) => {
    const known = await findArtifact(db, suite.name, tag);
    if (known !== undefined && Object.keys(known.components).length > 0) return tag;
    const found = await sources.resolve(suite, tag);
    await db.transaction(async (tx) => {
      await lockSuite(tx, suite.name);
      await readyRequestsOf(tx, await keepArtifacts(tx, suite.name, [found], clock.now()));
    });
    return found.tag;
  };
  return {
    artifact: isGiven ? artifact : await knownAs(artifact),
    ...(parent === undefined ? {} : { parent: await knownAs(parent) }),
  };
}

async function artifactFor(
  tx: Tx,
  suite: StoredSuite,
  submitted: Submitted,
  parent: StoredArtifact | undefined,
  now: Date,
): Promise<StoredArtifact> {
  const given = componentsOf(suite.definition, submitted.tarballs ?? {});
  const known = await findArtifact(tx, suite.name, submitted.artifact);
  if (known === undefined) {
    if (submitted.tarballs === undefined && !submitted.waitForArtifacts) {
      return requireArtifact(tx, suite.name, submitted.artifact);
    }
    const kind = submitted.kind ?? "try";
    // A try build is compared with the present main line.
    const follows = parent ?? (kind === "try" ? await newestMaster(tx, suite.name) : undefined);
    return addArtifact(
      tx,
      {
        suite: suite.name,
        tag: submitted.artifact,
        kind,
        datedAt: now,
        components: given,
        parentId: follows?.id ?? null,
      },
      now,
    );
  }
  return withTarballs(tx, known, given);
}

/** Ensures that a tag always means the same bytes: otherwise its figures would belong to different artifacts. */
export async function withTarballs(
  tx: Tx,
  known: StoredArtifact,
  given: Components,
): Promise<StoredArtifact> {
  for (const [backend, component] of Object.entries(given)) {
    const before = known.components[backend];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(component)) {
      throw new Fault(
        "already_exists",
        `${known.tag} already has another ${backend}; use another tag for your build`,
      );
    }
  }
  await addComponents(tx, known.id, given);
  return { ...known, components: { ...given, ...known.components } };
}

export function componentsOf(suite: Suite, tarballs: Readonly<Record<string, string>>): Components {
  requireNames(suite, "backend", Object.keys(suite.backends), Object.keys(tarballs));
  return Object.fromEntries(
    Object.entries(tarballs).map(([backend, digest]) => [backend, { kind: "blob", digest }]),
  );
}

async function requireArtifact(tx: Tx, suite: string, tag: string): Promise<StoredArtifact> {
  const artifact = await findArtifact(tx, suite, tag);
  if (artifact !== undefined) return artifact;
  throw new Fault(
    "not_found",
    `${suite} has no artifact ${tag}; \`grange bench artifacts --suite ${suite}\` lists all artifacts`,
  );
}

function kindFor(artifact: StoredArtifact, wanted: Submitted["kind"]): StoredArtifact["kind"] {
  if (wanted === undefined || wanted === artifact.kind || wanted === "try") {
    return wanted ?? artifact.kind;
  }
  throw new Fault(
    "invalid_argument",
    `${artifact.tag} is known as ${artifact.kind}, and cannot be requested as ${wanted}`,
  );
}

export async function noSuite(tx: Tx, name: string): Promise<Fault> {
  const names = (await allSuites(tx)).map((suite) => suite.name);
  const others = names.length === 0 ? "there is none yet" : `there are ${names.join(", ")}`;
  return new Fault(
    "not_found",
    `there is no suite "${name}" on this farm: ${others}; push one with \`grange bench suite push\``,
  );
}

function requireWords(suite: Suite, submitted: Submitted): void {
  const sections = [suite.compile, suite.runtime, suite.toolchain];
  const profiles = sections.flatMap((section) => Object.keys(section?.profiles ?? {}));
  const benchmarks = sections.flatMap((section) => Object.keys(section?.benchmarks ?? {}));
  requireNames(suite, "backend", Object.keys(suite.backends), submitted.backends);
  requireNames(suite, "target", Object.keys(suite.targets), submitted.targets);
  requireNames(suite, "profile", profiles, submitted.profiles);
  requireNames(suite, "benchmark", benchmarks, submitted.benchmarks);
  const available = Object.keys(suite.backends);
  const everything = Object.fromEntries(
    available.map((name) => [name, { kind: "path" as const, path: name }]),
  );
  if (ownJobs(suite, submitted, { components: everything }).length > 0) return;
  throw new Fault(
    "invalid_argument",
    `${suite.suite} has no case of these backends, profiles, targets and benchmarks together`,
  );
}

/** The minimum of fewer runs is higher: compared with all earlier measurements it would look like a regression. */
function requireRuns({ suite, iterations, metrics }: Suite, runs: number | undefined): void {
  const isCounted = Object.values(metrics).some(({ take }) => take.from === "instructions");
  const usual = Math.max(isCounted ? iterations.counted : 0, iterations.timed);
  if (runs === undefined || runs >= usual) return;
  throw new Fault(
    "invalid_argument",
    `${suite} runs each case ${usual} times, and results of ${runs} runs cannot be compared with others: request ${usual} to ${mostRuns} runs`,
  );
}

function requireNames(
  suite: Suite,
  what: string,
  known: readonly string[],
  named: readonly string[],
): void {
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Fault(
    "invalid_argument",
    `${suite.suite} has no ${what} ${unknown.map((name) => `"${name}"`).join(", ")}; it has ${[...new Set(known)].toSorted().join(", ")}`,
  );
}
