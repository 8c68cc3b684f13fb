import { parseImageReference } from "#images/image-reference.ts";
import { RegistryClient } from "#images/registry-client.ts";
import type { AllowedRegistry, RegistryCredentials } from "#images/registry-settings.ts";
import { blobFile } from "./blob-file.ts";
import type { Layer, OciLayout } from "./oci-layout.ts";

/** The layers of a base image, and the variables that it sets. */
interface BaseImage {
  readonly layers: readonly Layer[];
  readonly environment: readonly (readonly [name: string, value: string])[];
}

/**
 * Downloads the layers of an image into a layout, without a change.
 *
 * Throws for a name without a digest: a tag names another image tomorrow.
 */
export async function addBaseImage(
  layout: OciLayout,
  name: string,
  registries: readonly AllowedRegistry[],
  credentials: RegistryCredentials,
): Promise<BaseImage> {
  const reference = parseImageReference(name);
  if (reference.digest === undefined)
    throw new Error(
      `--base ${name} has no digest: write NAME@sha256:…, so that each build has the same base`,
    );
  const client = new RegistryClient({
    registries: [
      ...registries,
      { host: reference.registry, origins: [originOf(reference.registry)] },
    ],
    credentials,
    fetch,
    architecture: process.arch,
  });
  const { manifest, config } = await client.describe(reference);
  const layers: Layer[] = [];
  for (const [index, { digest, size, mediaType }] of manifest.layers.entries()) {
    const earlier = layers.some((layer) => layer.digest === digest);
    if (!earlier)
      await client.download(reference, { digest, size }, () => blobFile(layout.pathOf(digest)));
    layers.push({
      digest,
      size,
      mediaType: ociType(mediaType),
      diffId: config.diffIds[index] ?? "",
    });
  }
  return { layers, environment: config.environment };
}

/** Docker's own registry does not answer at the host that names of images have. */
const originOf = (host: string) =>
  host === "docker.io" ? "https://registry-1.docker.io" : `https://${host}`;

/** Returns the name that OCI has for a layer of Docker's format: the bytes are the same. */
function ociType(mediaType: string | undefined): string {
  return (mediaType ?? "application/vnd.oci.image.layer.v1.tar+gzip").replace(
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
    "application/vnd.oci.image.layer.v1.tar+gzip",
  );
}
