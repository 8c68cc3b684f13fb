import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type ImageEntry, orderedEntries } from "./image-entry.ts";
import { tarBytes } from "./tar-bytes.ts";

/** A blob of an image. `size` is in bytes. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface Layer extends Descriptor {
  /** The digest of the layer without compression. */
  readonly diffId: string;
}

/** What a container of the image starts with, in the words of the OCI image specification. */
interface RunSettings {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, Record<string, never>>>;
  readonly Labels: Readonly<Record<string, string>>;
}

const layerType = "application/vnd.oci.image.layer.v1.tar+gzip";
const configType = "application/vnd.oci.image.config.v1+json";
const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** A directory in the layout of the OCI image specification: `oci-layout`, `index.json`, `blobs/sha256/…`. */
export class OciLayout {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Makes an empty layout in a directory that exists. */
  static async create(directory: string): Promise<OciLayout> {
    await mkdir(join(directory, "blobs", "sha256"), { recursive: true });
    await writeFile(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
    return new OciLayout(directory);
  }

  pathOf(digest: string): string {
    return join(this.directory, "blobs", ...digest.split(":"));
  }

  /** Writes a layer of these files, packed by gzip. */
  async addLayer(entries: readonly ImageEntry[], mtime: Date): Promise<Layer> {
    const unpacked = createHash("sha256");
    const packed = createHash("sha256");
    const unfinished = join(this.directory, "unfinished");
    await pipeline(
      Readable.from(tarBytes(orderedEntries(entries), mtime)),
      hashing(unpacked),
      createGzip({ level: 6 }),
      hashing(packed),
      createWriteStream(unfinished),
    );
    const digest = `sha256:${packed.digest("hex")}`;
    await rename(unfinished, this.pathOf(digest));
    const { size } = await stat(this.pathOf(digest));
    return { mediaType: layerType, digest, size, diffId: `sha256:${unpacked.digest("hex")}` };
  }

  /** Writes configuration, manifest and index. Registries know the image by the digest of the manifest. */
  async finish(
    layers: readonly Layer[],
    settings: RunSettings,
    { name, created }: { readonly name: string; readonly created: Date },
  ): Promise<{ readonly manifest: Descriptor; readonly config: Descriptor }> {
    const architecture = { x64: "amd64", arm64: "arm64" }[process.arch as string] ?? process.arch;
    const config = await this.#addJson(configType, {
      created: created.toISOString(),
      architecture,
      os: "linux",
      config: settings,
      rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    });
    const manifest = await this.#addJson(manifestType, {
      schemaVersion: 2,
      mediaType: manifestType,
      config,
      layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
    });
    const listed = {
      ...manifest,
      platform: { os: "linux", architecture },
      annotations: { "org.opencontainers.image.ref.name": name, "io.containerd.image.name": name },
    };
    const index = { schemaVersion: 2, manifests: [listed] };
    await writeFile(join(this.directory, "index.json"), JSON.stringify(index));
    // Docker before version 25 reads only this file of an archive.
    const forDocker = [
      { Config: blobPath(config), RepoTags: [name], Layers: layers.map(blobPath) },
    ];
    await writeFile(join(this.directory, "manifest.json"), JSON.stringify(forDocker));
    return { manifest, config };
  }

  async #addJson(mediaType: string, value: unknown): Promise<Descriptor> {
    const bytes = Buffer.from(JSON.stringify(value));
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    await writeFile(this.pathOf(digest), bytes);
    return { mediaType, digest, size: bytes.length };
  }

  /** Writes the layout as one tar file, for `docker load` and `podman load`. */
  async writeArchive(file: string, blobs: readonly Descriptor[], mtime: Date): Promise<void> {
    const names = ["oci-layout", "index.json", "manifest.json", ...blobs.map(blobPath)];
    const entries = names.map(
      (name): ImageEntry => ({
        kind: "file",
        path: name,
        content: { from: join(this.directory, name) },
        executable: false,
      }),
    );
    await pipeline(
      Readable.from(tarBytes(orderedEntries(entries), mtime)),
      createWriteStream(file),
    );
  }
}

const blobPath = ({ digest }: Pick<Descriptor, "digest">) => `blobs/${digest.replace(":", "/")}`;

/** Passes bytes on, and adds them to a hash. */
function hashing(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      hash.update(part);
      done(null, part);
    },
  });
}
