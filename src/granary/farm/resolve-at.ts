import { fromDigestMessage } from "#cas/digest-message.ts";
import { indexLimits } from "#commit-index/index-limits.ts";
import { readKeyFilter } from "#commit-index/key-filter.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries, type Quarantined } from "#proto/grange/granary/v1/granary_pb.ts";
import type { Resolved, WhichBuild } from "./granary-farm.ts";

const mostIndexes = 3;
const mostQuarantined = 2_000;
/** Each index with its base. */
const mostBlobs = 2 * mostIndexes;

export async function resolveAt(
  channel: GrpcChannel,
  {
    project,
    repository,
    commits,
    tree,
    branch,
    environment,
    quarantineSince,
    headBytes,
  }: WhichBuild,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Resolved> {
  const { indexes, filter, blobs, quarantined, head } = await channel.unary(
    Granaries.method.resolve,
    {
      instanceName: project,
      repository,
      commits: commits.slice(0, indexLimits.commits),
      tree,
      branch,
      environment,
      wantFilter: true,
      ...(headBytes === undefined ? {} : { headBytes }),
      ...(quarantineSince === undefined ? {} : { quarantineSince: BigInt(quarantineSince) }),
    },
    { timeoutMs, ...(signal === undefined ? {} : { signal }) },
  );
  return {
    indexes: indexes.slice(0, mostIndexes),
    mayHave: filter === undefined ? undefined : readKeyFilter(filter),
    blobs: blobs.slice(0, mostBlobs).map(({ digest, data }) => ({
      digest: fromDigestMessage(digest, "an index in the response"),
      data,
    })),
    head,
    ...(quarantined === undefined ? {} : { quarantined: fromQuarantined(quarantined) }),
  };
}

/** Results of tools that this version does not know are not stored here. */
function fromQuarantined({ results, version }: Quarantined) {
  return {
    results: results.slice(0, mostQuarantined).flatMap(({ namespace, key }) => {
      const known = ResultKey.safeParse({ namespace, key });
      return known.success ? [known.data] : [];
    }),
    version: Math.max(0, Math.min(Number(version), Number.MAX_SAFE_INTEGER)),
  };
}
