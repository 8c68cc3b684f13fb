import { fromDigestMessage } from "#cas/digest-message.ts";
import { indexLimits } from "#commit-index/index-limits.ts";
import { readKeyFilter } from "#commit-index/key-filter.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { Resolved, WhichBuild } from "./granary-farm.ts";

const mostIndexes = 3;
/** Each with its base. */
const mostBlobs = 2 * mostIndexes;

export async function resolveAt(
  channel: GrpcChannel,
  { project, repository, commits, tree, branch, environment }: WhichBuild,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Resolved> {
  const { indexes, filter, blobs } = await channel.unary(
    Granaries.method.resolve,
    {
      instanceName: project,
      repository,
      commits: commits.slice(0, indexLimits.commits),
      tree,
      branch,
      environment,
      wantFilter: true,
    },
    { timeoutMs, ...(signal === undefined ? {} : { signal }) },
  );
  return {
    indexes: indexes.slice(0, mostIndexes),
    mayHave: filter === undefined ? undefined : readKeyFilter(filter),
    blobs: blobs.slice(0, mostBlobs).map(({ digest, data }) => ({
      digest: fromDigestMessage(digest, "an index that came along"),
      data,
    })),
  };
}
