import { pathOfCall } from "#api/endpoint.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { ApiClient } from "./api/api-client.ts";

/** Larger blobs are written to a file as they arrive, not kept in memory. */
const mostBytesInMemory = 64 * 1024 * 1024;

/** Returns the address of a blob of a project, for `ApiClient.bytes`. */
export function addressOfBlob(project: string, { hash, sizeBytes }: Digest): string {
  return pathOfCall(executionEndpoints.blob, { hash, size: String(sizeBytes) }, { project });
}

/**
 * Returns the bytes of a small blob, checked against its digest. Throws `data_loss` when the farm answers other bytes,
 * and `resource_exhausted` for a large blob.
 */
export async function readBlob(
  api: Pick<ApiClient, "bytes">,
  project: string,
  digest: Digest,
): Promise<Uint8Array> {
  if (digest.sizeBytes > mostBytesInMemory) {
    throw new Fault("resource_exhausted", `blob ${digestKey(digest)} is too large to read here`);
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of api.bytes(addressOfBlob(project, digest))) {
    size += part.length;
    if (size > digest.sizeBytes) break;
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  const found = digestOf(bytes, functionOf(digest));
  if (found.hash === digest.hash && size === digest.sizeBytes) return bytes;
  throw new Fault("data_loss", `the farm sent wrong bytes for blob ${digestKey(digest)}`);
}
