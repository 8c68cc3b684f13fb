import type { BlobStore } from "#cas/blob-store.ts";
import type { UploadStore } from "#cas/upload-store.ts";
import type { CallContext } from "#grpc/call-context.ts";

/** Returns the blobs for a call: a farm has a separate set for each project, a granary for each build. */
export type BlobsFor = (project: string, context: CallContext) => BlobStore;

/** Throws `permission_denied` for callers that may not write into a project, even for existing blobs. */
export type RequireMayWrite = (project: string, context: CallContext) => Promise<void>;

/** The UploadStore for the same blobs. */
export type UploadsFor = (
  project: string,
  context: CallContext,
) => Pick<UploadStore, "committed" | "receive">;
