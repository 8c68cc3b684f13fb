import { fromDigestMessage } from "#cas/digest-message.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import { keyText } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { Granaries, type WholeBlob } from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { BlobAlong, FoundWithBlobs } from "./granary-farm.ts";
import { fromStoredResult } from "./stored-result.ts";

const mostKeysPerCall = 10_000;

/** Returns the farm's result for each of the keys, in their order. */
export async function lookUpAll(
  channel: GrpcChannel,
  project: string,
  keys: readonly ResultKey[],
  timeoutMs: number,
): Promise<(GranaryResult | undefined)[]> {
  const found = new Map<string, GranaryResult>();
  const unique = uniqueKeys(keys);
  for (let at = 0; at < unique.length; at += mostKeysPerCall) {
    const results = unique.slice(at, at + mostKeysPerCall);
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

/** The same for a few keys, with those blobs of the results that are sent with the answer, up to a total size. */
export async function lookUpWithBlobs(
  channel: GrpcChannel,
  project: string,
  keys: readonly ResultKey[],
  { blobBytes, timeoutMs }: { readonly blobBytes: number; readonly timeoutMs: number },
): Promise<(FoundWithBlobs | undefined)[]> {
  const answer = await channel.unary(
    Granaries.method.lookUp,
    { instanceName: project, results: uniqueKeys(keys), blobBytes },
    { timeoutMs },
  );
  const came = new Map<string, BlobAlong>();
  for (const blob of answer.blobs) {
    const read = parseBlobAlong(blob);
    if (read !== undefined) came.set(digestKey(read.digest), read);
  }
  const found = new Map<string, FoundWithBlobs>();
  for (const stored of answer.results) {
    const result = fromStoredResult(project, stored);
    // Blobs that no result names are ignored.
    const along = [result.value, ...result.blobs].flatMap((one) => came.get(digestKey(one)) ?? []);
    found.set(keyText(result), { result, along });
  }
  return keys.map((key) => found.get(keyText(key)));
}

/** Returns undefined for a blob without a digest, which is then requested by itself. */
function parseBlobAlong({ digest, data }: WholeBlob): BlobAlong | undefined {
  try {
    return { digest: fromDigestMessage(digest, "a blob with an index"), data };
  } catch {
    return undefined;
  }
}

function uniqueKeys(keys: readonly ResultKey[]): ResultKey[] {
  const unique = new Map(keys.map((key) => [keyText(key), key]));
  return [...unique.values()].map(({ namespace, key }) => ({ namespace, key }));
}
