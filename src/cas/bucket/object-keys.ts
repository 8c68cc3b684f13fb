import { randomBytes } from "node:crypto";
import { type Digest, hexOf } from "#core/digest.ts";
import type { Namespace } from "../namespaces/namespace.ts";

/**
 * The keys of objects, below the prefix of the store:
 *
 *     farm-id                                   the farm that owns the store
 *     blobs/default/2c/2cf24dba….5f0c…          a blob of the default project
 *     blobs/projects/name-1f…/2c/2cf24dba….9a…  a blob of another project
 *     uploads/9c41…                             the received part of an interrupted upload
 *
 * The last part of a blob's key is random: each upload has its own object.
 */
export const ownerKey = "farm-id";

export function newBlobKey(namespace: Namespace, digest: Digest): string {
  const project = namespace === "" ? "default" : namespace;
  return `blobs/${project}/${hexOf(digest).slice(0, 2)}/${digest.hash}.${random()}`;
}

export function newUploadKey(): string {
  return `uploads/${random()}`;
}

function random(): string {
  return randomBytes(8).toString("hex");
}
