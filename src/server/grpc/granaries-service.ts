import { requireMayReadBlobs } from "#access/may-read.ts";
import { requireGrant } from "#access/require-grant.ts";
import { requireMayKeep } from "#access/trust-domains/domain-of-client.ts";
import { Divergence } from "#api/granary.ts";
import type { GrpcCallers } from "#caches/rev2/caller.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { ChosenIndex } from "#granaries/choose-indexes.ts";
import type { StoredIndex } from "#granaries/commit-index.store.ts";
import { indexedBuildOf } from "#granaries/indexed-build.ts";
import type { ResultEnd } from "#granaries/publish-results.ts";
import { jsonOf, readReport } from "#granaries/report-build.ts";
import {
  fromStoredResult,
  keyOf,
  type ReceivedResult,
  toStoredResult,
} from "#granaries/stored-result-message.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  FoundIndex_Source,
  Granaries,
  PublishResultsResponse_End_Kind,
  type ResolveRequest,
  type StoredResult,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranariesOf } from "./granaries-of-domains.ts";
import { fetchMethod } from "./granaries-service-fetch.ts";

const mostKeys = 10_000;
const mostResults = 2_000;
/** An answer must fit into one message. */
const mostAnswerBytes = 4 * 1_048_576;
const mostTargets = 100;
const longestTarget = 1_024;

/** Returns the gRPC methods that granaries call. */
export function granariesService(parts: {
  readonly granariesOf: GranariesOf;
  readonly callers: GrpcCallers;
  readonly clock: Clock;
}): Method[] {
  const { granariesOf, callers, clock } = parts;

  /** Returns the caller of a method that reads. Throws `permission_denied`. */
  async function readerOf(context: CallContext, instanceName: string) {
    const project = projectOf(instanceName);
    const caller = await callers.of(context);
    requireMayReadBlobs(caller, project);
    return { project, principal: caller.name, caller, granaries: granariesOf(caller, project) };
  }

  /** Returns the caller of a method that stores results. Throws `permission_denied`. */
  async function writerOf(context: CallContext, instanceName: string) {
    const writer = await readerOf(context, instanceName);
    requireMayKeep(writer.caller, writer.project);
    return writer;
  }

  /** Returns the caller of a method whose reports everybody can see. Throws `permission_denied`. */
  async function reporterOf(context: CallContext, instanceName: string) {
    const reporter = await readerOf(context, instanceName);
    requireGrant(reporter.caller, "cache", { repository: reporter.project, branch: "" });
    return reporter;
  }

  return [
    fetchMethod(readerOf),
    ...methodsOf(Granaries, {
      async resolve(request, context) {
        const { project, granaries } = await readerOf(context, request.instanceName);
        return resolveIndexes(granaries, project, request);
      },

      async lookUp({ instanceName, results, blobBytes }, context) {
        const { project, granaries } = await readerOf(context, instanceName);
        assertFew(results.length, mostKeys, "keys");
        const found = await granaries.lookUp(project, results.map(keyOf));
        const messages = withinMessage(found.map(toStoredResult));
        const blobs = await granaries.blobsAlong(project, found, blobBytes);
        return {
          results: messages,
          blobs: blobs.map(({ digest, data }) => ({ digest: toDigestMessage(digest), data })),
        };
      },

      async publishResults({ instanceName, results }, context) {
        const { project, principal, granaries } = await writerOf(context, instanceName);
        assertFew(results.length, mostResults, "results");
        const reported = results.map(readReceivedResult);
        const ends = await granaries.publishResults(project, reported, principal);
        return { ends: ends.map(endMessage) };
      },

      async publishIndex(request, context) {
        const { project, principal, granaries } = await writerOf(context, request.instanceName);
        const { repository, commits, tree, branch, environment } = request;
        const build = indexedBuildOf({ project, repository, commits, tree, branch, environment });
        const { taken, refused, index } = await granaries.publishIndex(build, {
          entries: fromDigestMessage(request.entries, "the index"),
          isComplete: request.complete,
          targets: targetsOf(request.targets),
          principal,
        });
        return {
          taken,
          refused,
          ...(index === undefined ? {} : { index: toDigestMessage(index) }),
        };
      },

      async reportBuild({ instanceName, json }, context) {
        const { project, principal, granaries } = await reporterOf(context, instanceName);
        await granaries.reportBuild(readReport(json, project, clock), principal);
        return {};
      },

      async reportDivergence({ instanceName, json }, context) {
        const { project, principal, granaries } = await reporterOf(context, instanceName);
        const divergence = Divergence.safeParse(jsonOf(json, "divergence"));
        if (!divergence.success) {
          throw new Fault(
            "invalid_argument",
            "the divergence does not have the form that the HTTP API describes",
          );
        }
        const quarantined = await granaries.reportDivergence(project, divergence.data, principal);
        return { quarantined };
      },
    }),
  ];
}

/** Answers which commit indexes a build can use, with the start of their content and the quarantine since a version. */
async function resolveIndexes(
  granaries: ReturnType<GranariesOf>,
  project: string,
  { wantFilter, quarantineSince, headBytes, ...build }: ResolveRequest,
) {
  const [indexes, quarantined] = await Promise.all([
    granaries.resolve(indexedBuildOf({ ...build, project })),
    quarantineSince === undefined
      ? undefined
      : granaries.quarantinedSince(project, versionOf(quarantineSince)),
  ]);
  const smallIndexesWithHead = async () => {
    const blobs = await granaries.smallIndexes(project, indexes);
    return { blobs, head: await granaries.head(project, indexes, blobs, headBytes) };
  };
  const [{ blobs, head }, filter] = await Promise.all([
    smallIndexesWithHead(),
    wantFilter ? granaries.keyFilter(project) : undefined,
  ]);
  return {
    indexes: indexes.map(foundIndex),
    blobs: blobs.map(({ digest, data }) => ({ digest: toDigestMessage(digest), data })),
    head,
    ...(filter === undefined ? {} : { filter }),
    ...(quarantined === undefined
      ? {}
      : {
          quarantined: {
            results: [...quarantined.results],
            version: BigInt(quarantined.version),
          },
        }),
  };
}

/** Returns a version as a number. A version of another farm becomes the largest one, and a negative number 0. */
function versionOf(version: bigint): number {
  return Number(version < 0n ? 0n : version > maxVersion ? maxVersion : version);
}

const maxVersion = BigInt(Number.MAX_SAFE_INTEGER);

function assertFew(count: number, most: number, what: string): void {
  if (count <= most) return;
  throw new Fault(
    "invalid_argument",
    `a call may have at most ${most} ${what}, and this one has ${count}; make several calls`,
  );
}

const sources = {
  commit: FoundIndex_Source.COMMIT,
  tree: FoundIndex_Source.TREE,
  ancestor: FoundIndex_Source.ANCESTOR,
  branch: FoundIndex_Source.BRANCH,
  repository: FoundIndex_Source.REPOSITORY,
} as const;

function foundIndex({ candidate, source, distance }: ChosenIndex<StoredIndex>) {
  return {
    source: sources[source],
    distance,
    commit: candidate.commit,
    index: toDigestMessage(candidate.digest),
    complete: candidate.isComplete,
    entries: candidate.entries,
    bytes: BigInt(candidate.bytes),
    targets: candidate.targets,
  };
}

/** About 75 bytes for each digest. */
function withinMessage(results: StoredResult[]): StoredResult[] {
  const bytes = results.reduce((sum, { blobs }) => sum + 250 + 75 * blobs.length, 0);
  if (bytes <= mostAnswerBytes) return results;
  throw new Fault(
    "resource_exhausted",
    `the ${results.length} results do not fit into one message; request half as many`,
  );
}

/** Returns a `Fault` for a result that cannot be read, so that the other results of the call are stored. */
function readReceivedResult(message: StoredResult): ReceivedResult | Fault {
  try {
    return fromStoredResult(message);
  } catch (reason) {
    if (reason instanceof Fault) return reason;
    throw reason;
  }
}

function endMessage(end: ResultEnd) {
  switch (end.kind) {
    case "kept":
      return { kind: PublishResultsResponse_End_Kind.KEPT };
    case "known":
      return { kind: PublishResultsResponse_End_Kind.KNOWN };
    case "incomplete":
      return {
        kind: PublishResultsResponse_End_Kind.INCOMPLETE,
        missing: end.missing.map(toDigestMessage),
      };
    case "refused":
      return { kind: PublishResultsResponse_End_Kind.REFUSED, message: end.message };
  }
}

function targetsOf(targets: readonly string[]): string[] {
  assertFew(targets.length, mostTargets, "targets");
  if (
    targets.every(
      (target) => target.length <= longestTarget && !/[\p{Cc}\p{Surrogate}]/u.test(target),
    )
  ) {
    return [...targets];
  }
  throw new Fault("invalid_argument", `a target has at most ${longestTarget} characters`);
}
