import { readKeyFilter } from "#commit-index/key-filter.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { Resolved, WhichBuild } from "./granary-farm.ts";

const mostCommits = 64;
const mostIndexes = 3;

export async function resolveAt(
  channel: GrpcChannel,
  { project, repository, commits, tree, branch, environment }: WhichBuild,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<Resolved> {
  const { indexes, filter } = await channel.unary(
    Granaries.method.resolve,
    {
      instanceName: project,
      repository,
      commits: commits.slice(0, mostCommits),
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
  };
}
