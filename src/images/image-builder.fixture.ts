/** Images for tests: layers as tar files, also such as no honest tool writes. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** An entry of a layer; `type` is the type flag of tar(5): `0` file, `1` hard link, `2` symbolic link, `5` directory. */
interface TarEntry {
  readonly path: string;
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly target?: string;
  readonly mode?: number;
  /** Instead of the length of the content. */
  readonly size?: number;
  readonly mtime?: number;
}

export function tarOf(entries: readonly TarEntry[], end = true): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    const long = [
      ...(Buffer.byteLength(entry.path) > 100 ? longName("L", entry.path) : []),
      ...(Buffer.byteLength(entry.target ?? "") > 100 ? longName("K", entry.target ?? "") : []),
    ];
    return [...long, header(entry, content.length), padded(content)];
  });
  return Buffer.concat([...parts, ...(end ? [Buffer.alloc(1_024)] : [])]);
}

function longName(type: string, text: string): Buffer[] {
  const content = Buffer.from(`${text}\0`);
  return [header({ path: "././@LongLink", type }, content.length), padded(content)];
}

function header(entry: TarEntry, contentBytes: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  block.write(entry.path, 0, 100);
  octal(entry.mode ?? (entry.type === "5" ? 0o755 : 0o644), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(entry.size ?? contentBytes, 124, 12);
  octal(entry.mtime ?? 1_600_000_000, 136, 12);
  block.write("        ", 148);
  block.write(entry.type ?? "0", 156);
  block.write(entry.target ?? "", 157, 100);
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

interface BuiltImage {
  readonly digest: string;
  readonly manifest: Buffer;
  /** Layers and configuration, by digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

const digestOfBytes = (bytes: Buffer) =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Builds an image of layers, which are packed by gzip. */
export function buildImage(
  layers: readonly Buffer[],
  config: Readonly<Record<string, unknown>> = {},
): BuiltImage {
  const packed = layers.map((layer) => gzipSync(layer));
  const configBytes = Buffer.from(
    JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: layers.map(digestOfBytes) },
    }),
  );
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: {
        mediaType: "application/vnd.oci.image.config.v1+json",
        digest: digestOfBytes(configBytes),
        size: configBytes.length,
      },
      layers: packed.map((bytes) => ({
        mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
        digest: digestOfBytes(bytes),
        size: bytes.length,
      })),
    }),
  );
  const blobs = new Map([configBytes, ...packed].map((bytes) => [digestOfBytes(bytes), bytes]));
  return { digest: digestOfBytes(manifest), manifest, blobs };
}

/** Pushes an image to a registry by the OCI distribution specification; `access` is its headers for authorization. */
export async function pushImage(
  origin: string,
  repository: string,
  tag: string,
  image: BuiltImage,
  access: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [digest, bytes] of image.blobs) {
    const begun = await expectOk(
      fetch(`${origin}/v2/${repository}/blobs/uploads/`, { method: "POST", headers: access }),
    );
    const at = new URL(begun.headers.get("location") ?? "", origin);
    at.searchParams.set("digest", digest);
    const body = new Uint8Array(bytes);
    await expectOk(
      fetch(at, {
        method: "PUT",
        body,
        headers: { ...access, "content-type": "application/octet-stream" },
      }),
    );
  }
  await expectOk(
    fetch(`${origin}/v2/${repository}/manifests/${tag}`, {
      method: "PUT",
      body: new Uint8Array(image.manifest),
      headers: { ...access, "content-type": "application/vnd.oci.image.manifest.v1+json" },
    }),
  );
}

async function expectOk(asking: Promise<Response>): Promise<Response> {
  const answer = await asking;
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url}: HTTP ${answer.status} ${text}`);
  return answer;
}
