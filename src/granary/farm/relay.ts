import type { BlobStore } from "#cas/blob-store.ts";
import type { GrpcChannel } from "#grpc/channel.ts";

/** Calls from tools to the farm that a granary only passes on. */
export interface Relay extends Pick<GrpcChannel, "raw"> {
  /** The farm's blobs, which those calls name. */
  blobs(project: string): BlobStore;
}
