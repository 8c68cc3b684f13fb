import { z } from "zod";
import { Fault } from "#core/fault.ts";

/** No image in use has as many. */
const mostLayers = 200;

const mostVolumes = 64;

const BlobDigest = z.string().regex(/^sha256:[a-f0-9]{64}$/, "only sha256 digests are supported");

export const Descriptor = z.object({
  mediaType: z.string().max(256).optional(),
  digest: BlobDigest,
  size: z.number().int().nonnegative(),
});

/** A blob that a manifest names. `size` is in bytes. */
export type Descriptor = z.infer<typeof Descriptor>;

const Manifest = z.object({
  schemaVersion: z.literal(2),
  config: Descriptor,
  layers: z
    .array(Descriptor)
    .max(mostLayers, `an image has at most ${mostLayers} layers`)
    // Programs in Go write an empty list as null, or leave it out.
    .nullish()
    .transform((layers) => layers ?? []),
});

/** The types of configurations of images. Old registries and clients name none, or a general one. */
const configTypes: readonly (string | undefined)[] = [
  "application/vnd.oci.image.config.v1+json",
  "application/vnd.docker.container.image.v1+json",
  "application/octet-stream",
  "application/json",
  "",
  undefined,
];

const Index = z.object({
  schemaVersion: z.literal(2),
  manifests: z
    .array(
      Descriptor.extend({
        platform: z
          .object({ os: z.string(), architecture: z.string(), variant: z.string().optional() })
          .optional(),
      }),
    )
    .max(1_000),
});

const text = z.string().max(65_536);

const Config = z.object({
  config: z
    .object({
      Env: z.array(text).max(1_000).nullish(),
      WorkingDir: text.nullish(),
      User: text.nullish(),
      Entrypoint: z.array(text).max(1_000).nullish(),
      Cmd: z.array(text).max(1_000).nullish(),
      Volumes: z.record(text, z.unknown()).nullish(),
      ExposedPorts: z.record(z.string().max(64), z.unknown()).nullish(),
    })
    .nullish(),
  os: text.nullish(),
  architecture: text.nullish(),
  rootfs: z.object({ diff_ids: z.array(BlobDigest).nullish() }),
});

/** The settings of an image that Grange uses, and the digests of its layers without compression. */
export interface ImageConfig {
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly workingDirectory: string;
  /** As the image states it: jobs always run as the user of the sandbox. */
  readonly user: string;
  /** What a service of the image starts: its entry point, and the arguments of it. */
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Absolute paths of directories in which its programs write. */
  readonly volumes: readonly string[];
  /** TCP ports on which its programs listen. */
  readonly ports: readonly number[];
  readonly diffIds: readonly string[];
}

export type ImageManifest = Pick<z.infer<typeof Manifest>, "config" | "layers">;

/** What a registry has under a name: one image, or a list of images for several platforms. */
type ManifestOrIndex =
  | { readonly kind: "manifest"; readonly manifest: ImageManifest }
  | { readonly kind: "index"; readonly manifests: z.infer<typeof Index>["manifests"] };

/** Parses a manifest of OCI, or of Docker in schema 2. Throws `invalid_argument`. */
export function parseManifest(bytes: Uint8Array, name: string): ManifestOrIndex {
  const json = parseJson(bytes, `the manifest of ${name}`);
  const isOld =
    typeof json === "object" &&
    json !== null &&
    "schemaVersion" in json &&
    json.schemaVersion === 1;
  if (isOld)
    throw new Fault(
      "invalid_argument",
      `the manifest of ${name} has schema 1 of Docker, which is not supported: push the image with a current tool`,
    );
  const isIndex = typeof json === "object" && json !== null && "manifests" in json;
  if (isIndex) {
    const index = read(Index, json, `the index of ${name}`);
    return { kind: "index", manifests: index.manifests };
  }
  const manifest = read(Manifest, json, `the manifest of ${name}`);
  const type = manifest.config.mediaType;
  if (!configTypes.includes(type))
    throw new Fault(
      "invalid_argument",
      `${name} is no container image: its configuration has the type ${JSON.stringify(type)}`,
    );
  if (manifest.layers.some(({ mediaType = "" }) => mediaType.endsWith("+encrypted")))
    throw new Fault("invalid_argument", `${name} has encrypted layers, which are not supported`);
  return { kind: "manifest", manifest };
}

/** Returns the image of an index for Linux on this architecture. Throws `invalid_argument` when there is none. */
export function chooseManifest(
  manifests: z.infer<typeof Index>["manifests"],
  architecture: string,
  name: string,
): Descriptor {
  const wanted = architectureInImages(architecture);
  const own = manifests.filter(
    ({ platform }) => platform?.os === "linux" && platform.architecture === wanted,
  );
  // A list may name images for newer processors, such as v3 of amd64, before the one for all.
  const forAll = [undefined, "", wanted === "arm64" ? "v8" : "v1"];
  const found = own.find(({ platform }) => forAll.includes(platform?.variant)) ?? own[0];
  if (found !== undefined) return found;
  const offered = manifests
    .slice(0, 20)
    .map(({ platform }) => `${platform?.os ?? "?"}/${platform?.architecture ?? "?"}`);
  throw new Fault(
    "invalid_argument",
    `${name} has no image for linux/${wanted}, only for ${offered.join(", ") || "nothing"}`,
  );
}

/** Returns the name that images have for an architecture of `process.arch`. */
function architectureInImages(architecture: string): string {
  return { x64: "amd64", ia32: "386" }[architecture] ?? architecture;
}

/** Parses the configuration of an image. Throws `invalid_argument`, also for an image of another platform. */
export function parseImageConfig(
  bytes: Uint8Array,
  manifest: ImageManifest,
  name: string,
  ownArchitecture: string,
): ImageConfig {
  const what = `the configuration of ${name}`;
  const { config, rootfs, os, architecture } = parseDocument(Config, bytes, what);
  const diffIds = rootfs.diff_ids ?? [];
  if (diffIds.length !== manifest.layers.length)
    throw new Fault(
      "invalid_argument",
      `${what} has ${diffIds.length} layers, and its manifest has ${manifest.layers.length}`,
    );
  const own = architectureInImages(ownArchitecture);
  // An image that is in no list is only found to be for another machine here.
  if ((os || "linux") !== "linux" || (architecture || own) !== own)
    throw new Fault(
      "invalid_argument",
      `${name} is for ${os || "linux"}/${architecture || own}, and this machine runs linux/${own}`,
    );
  const environment = (config?.Env ?? []).flatMap((line): [string, string][] => {
    const at = line.indexOf("=");
    return at < 1 || line.includes("\0") ? [] : [[line.slice(0, at), line.slice(at + 1)]];
  });
  return {
    environment,
    workingDirectory: config?.WorkingDir ?? "",
    user: config?.User ?? "",
    entrypoint: config?.Entrypoint ?? [],
    command: config?.Cmd ?? [],
    volumes: Object.keys(config?.Volumes ?? {}).slice(0, mostVolumes),
    ports: Object.keys(config?.ExposedPorts ?? {})
      .flatMap((port) => /^(\d{1,5})(?:\/tcp)?$/.exec(port)?.[1] ?? [])
      .map(Number)
      .filter((port) => port > 0 && port < 65_536)
      .toSorted((a, b) => a - b),
    diffIds,
  };
}

/** Parses a JSON document of a registry, which `what` names for people. Throws `invalid_argument`. */
export function parseDocument<T>(schema: z.ZodType<T>, bytes: Uint8Array, what: string): T {
  return read(schema, parseJson(bytes, what), what);
}

function parseJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw new Fault("invalid_argument", `${what} is not JSON`);
  }
}

function read<T>(schema: z.ZodType<T>, json: unknown, what: string): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new Fault("invalid_argument", `${what} is wrong: ${z.prettifyError(parsed.error)}`);
}
