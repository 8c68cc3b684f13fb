import { z } from "zod";
import { Descriptor, parseDocument } from "./image-manifest.ts";
import { type ImageReference, imageName } from "./image-reference.ts";
import type { ImageSignature } from "./image-signatures.ts";
import type { RegistryClient } from "./registry-client.ts";

/** An image has few signatures; each costs requests. */
const mostSignatures = 16;

/** The text that a signature signs has some hundred bytes. */
const mostPayloadBytes = 64 * 1024;
/** A bundle with a certificate and an entry of a log has 5 to 20 kB. */
const mostBundleBytes = 128 * 1024;

const bundleType = "application/vnd.dev.sigstore.bundle";

/** Returns the signatures that cosign has stored beside an image; none when there are none. */
export async function findSignatures(
  client: RegistryClient,
  reference: ImageReference,
  digest: string,
  signal?: AbortSignal,
): Promise<readonly ImageSignature[]> {
  return [
    ...(await signaturesUnderTag(client, reference, digest, signal)),
    ...(await signaturesThatRefer(client, reference, digest, signal)),
  ];
}

const SignatureManifest = z.object({
  schemaVersion: z.literal(2),
  layers: z
    .array(Descriptor.extend({ annotations: z.record(z.string(), z.string()).optional() }))
    .max(1_000),
});

/** Those of cosign 1 and 2: each is a layer of one manifest, whose tag names the digest of the image. */
async function signaturesUnderTag(
  client: RegistryClient,
  reference: ImageReference,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<ImageSignature[]> {
  const tag = `${digest.replace(":", "-")}.sig`;
  const manifest = await client.manifestIfPresent(reference, tag, signal);
  if (manifest === undefined) return [];
  const what = `the list of signatures of ${imageName(reference)}`;
  const { layers } = parseDocument(SignatureManifest, manifest, what);
  const found: ImageSignature[] = [];
  for (const { annotations = {}, ...layer } of layers.slice(0, mostSignatures)) {
    const signature = annotations["dev.cosignproject.cosign/signature"];
    if (signature === undefined) continue;
    found.push({
      kind: "simple-signing",
      payload: await client.smallBlob(reference, layer.digest, mostPayloadBytes, signal),
      signature,
      certificate: annotations["dev.sigstore.cosign/certificate"],
      logEntry: annotations["dev.sigstore.cosign/bundle"],
      timestamp: annotations["dev.sigstore.cosign/rfc3161timestamp"],
    });
  }
  return found;
}

const Referrers = z.object({
  manifests: z
    .array(Descriptor.extend({ artifactType: z.string().max(256).optional() }))
    .max(10_000),
});

const BundleManifest = z.object({ layers: z.array(Descriptor).max(1_000) });

/** Those of cosign 3: each is a bundle in a manifest that refers to the image. */
async function signaturesThatRefer(
  client: RegistryClient,
  reference: ImageReference,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<ImageSignature[]> {
  const index = await client.referrers(reference, digest, signal);
  if (index === undefined) return [];
  const name = imageName(reference);
  const { manifests } = parseDocument(Referrers, index, `the index of what refers to ${name}`);
  // Indexes that clients write into registries from before OCI 1.1 may have the type of the configuration here.
  const isBundle = ({ artifactType = "" }) => artifactType.startsWith(bundleType);
  const mayBe = ({ artifactType = "application/vnd.oci." }) =>
    artifactType.startsWith("application/vnd.oci.");
  const found: ImageSignature[] = [];
  for (const each of [...manifests.filter(isBundle), ...manifests.filter(mayBe)].slice(
    0,
    mostSignatures,
  )) {
    const manifest = await client.manifestIfPresent(reference, each.digest, signal);
    const layer = manifest === undefined ? undefined : bundleIn(manifest);
    if (layer === undefined) continue;
    const json = await client.smallBlob(reference, layer.digest, mostBundleBytes, signal);
    found.push({ kind: "bundle", json });
  }
  return found;
}

/** Returns undefined for a manifest of something else, also one that cannot be read. */
function bundleIn(manifest: Uint8Array): Descriptor | undefined {
  const parsed = BundleManifest.safeParse(jsonIn(manifest));
  return parsed.data?.layers.find(
    ({ mediaType = "", size }) => mediaType.startsWith(bundleType) && size <= mostBundleBytes,
  );
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
