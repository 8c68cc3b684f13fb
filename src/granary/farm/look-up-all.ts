import type { ResultKey } from "#commit-index/result-key.ts";
import { keyText } from "#commit-index/result-key.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import { fromStoredResult } from "./stored-result.ts";

const mostKeysPerCall = 10_000;

/** What the farm has under each of the keys, in their order. */
export async function lookUpAll(
  channel: GrpcChannel,
  project: string,
  keys: readonly ResultKey[],
  timeoutMs: number,
): Promise<(GranaryResult | undefined)[]> {
  const unique = [...new Map(keys.map((key) => [keyText(key), key])).values()];
  const found = new Map<string, GranaryResult>();
  for (let at = 0; at < unique.length; at += mostKeysPerCall) {
    const results = unique
      .slice(at, at + mostKeysPerCall)
      .map(({ namespace, key }) => ({ namespace, key }));
    const answer = await channel.unary(
      Granaries.method.lookUp,
      { instanceName: project, results },
      { timeoutMs },
    );
    for (const stored of answer.results) {
      const result = fromStoredResult(project, stored);
      found.set(keyText(result), result);
    }
  }
  return keys.map((key) => found.get(keyText(key)));
}
