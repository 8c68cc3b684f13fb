import { create, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { imageOf, imageProperty, type Platform } from "#core/platform.ts";
import type { ImageAsker, ResolveImage } from "#graphs/resolved-image.ts";
import {
  ActionSchema,
  PlatformSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type KnownAction, readAction } from "./read-action.ts";

/** An action whose image has a digest. It is executed, and its result cached, instead of the action that a client sent. */
interface PinnedAction {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  readonly platform: Platform;
}

/**
 * Returns the action with the digest of its container image in place of the tag; undefined for an action without an
 * image, and for an image that already has a digest or whose registry the farm does not know.
 *
 * Throws `unavailable` when the registry is, and `invalid_argument` for an image that does not exist.
 */
export async function pinnedAction(
  { action, platform, command }: KnownAction,
  digest: Digest,
  resolveImage: ResolveImage,
  asker: ImageAsker,
): Promise<PinnedAction | undefined> {
  const image = imageOf(platform);
  if (image === undefined) return undefined;
  const resolved = withScheme(await resolveImage(image, asker));
  if (resolved === withScheme(image)) return undefined;
  const properties = (action.platform ?? command.platform)?.properties ?? [];
  const bytes = toBinary(ActionSchema, {
    ...action,
    platform: create(PlatformSchema, {
      properties: properties.map(({ name, value }) => ({
        name,
        value: name === imageProperty ? resolved : value,
      })),
    }),
  });
  return {
    digest: digestOf(bytes, functionOf(digest)),
    bytes,
    platform: { ...platform, [imageProperty]: resolved },
  };
}

/** Returns the digest of the pinned action that belongs to a client's action; undefined when there is none, or it cannot be known now. */
export async function pinnedDigest(
  digest: Digest,
  blobs: BlobStore,
  resolveImage: ResolveImage,
  asker: ImageAsker,
): Promise<Digest | undefined> {
  try {
    const read = await readAction(digest, blobs);
    return read.kind === "missing"
      ? undefined
      : (await pinnedAction(read, digest, resolveImage, asker))?.digest;
  } catch (reason) {
    // A lookup finds nothing then. The client executes the action, which reports the reason.
    if (reason instanceof Fault) return undefined;
    throw reason;
  }
}

function withScheme(image: string): string {
  return image.startsWith("docker://") ? image : `docker://${image}`;
}
