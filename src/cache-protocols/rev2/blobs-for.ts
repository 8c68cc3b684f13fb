import type { BlobStore } from "#cas/blob-store.ts";
import type { CallContext } from "#grpc/call-context.ts";

/** The blobs that a call is about: a farm has one store for all, a granary another for each build. */
export type BlobsFor = (project: string, context: CallContext) => BlobStore;
