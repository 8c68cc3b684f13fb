import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { TransferLine } from "#commit-index/order-transfer.ts";
import { Fault } from "#core/fault.ts";
import type { FetchResponse } from "#proto/grange/granary/v1/granary_pb.ts";
import { fetchedThings } from "./fetched-things.ts";
import type { FetchedThing, FetchRequest } from "./granary-farm.ts";

/** The limit of a farm. */
const mostHeadBytes = 128 * 1024;
/** The names of blobs take space, too. */
const mostUnpackedBytes = 8 * mostHeadBytes;

/**
 * Returns the number of bytes that the line transfers in one round trip: sending so many bytes with the index saves a
 * round trip and does not delay the index.
 */
export function headBytesOf(line: TransferLine | undefined): number {
  const bytes =
    line === undefined ? mostHeadBytes : (line.bytesPerSecond * line.roundTripMs) / 1_000;
  return Math.min(mostHeadBytes, Math.round(bytes));
}

/**
 * Reads the results that were sent with an index, and their blobs, not yet compared with their digests.
 *
 * Throws `data_loss` for blobs that the index does not name, for far more than was requested, and for unreadable data.
 */
export async function readHead(
  project: string,
  head: readonly FetchResponse[],
  entries: readonly IndexEntry[],
): Promise<FetchedThing[]> {
  if (head.length === 0) return [];
  const bytes = head.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0);
  if (bytes > mostUnpackedBytes) {
    throw new Fault("data_loss", `the farm sends ${bytes} bytes along with an index`);
  }
  const requests = entries.flatMap(({ namespace, key, blobs }): FetchRequest[] => [
    { kind: "result", key: { namespace, key } },
    ...blobs.map((digest) => ({ kind: "blob" as const, digest })),
  ]);
  const fetched = fetchedThings(project, requests);
  const things: FetchedThing[] = [];
  for (const message of head) things.push(...(await fetched.in(message)));
  // Throws if it ends within a blob; missing items are not an error here.
  fetched.rest();
  return things;
}
