import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Fault } from "#core/fault.ts";

interface TarFile {
  /** Relative, normal, with `/`; it does not leave the folder. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly bytes: Uint8Array;
}

export interface TarLimits {
  readonly bytes: number;
  readonly files: number;
}

/** Larger than every realistic package, and small enough not to fill a disk. */
const packageLimits: TarLimits = { bytes: 256 * 2 ** 20, files: 50_000 };

const block = 512;

/**
 * Reads an untrusted gzipped tar, without its first folder (`package/`).
 *
 * Accepts regular files only. Links, devices and paths outside the folder are refused and not skipped: a package with
 * them is broken or malicious. Format: POSIX.1-2017 pax, and GNU's long names.
 */
export async function readTarball(
  compressed: Uint8Array,
  limits: TarLimits = packageLimits,
): Promise<TarFile[]> {
  const tar = await unzip(compressed, limits);
  const files = new Map<string, TarFile>();
  let longPath: string | undefined;
  for (let offset = 0; offset + block <= tar.length; ) {
    const header = tar.subarray(offset, offset + block);
    if (header.every((byte) => byte === 0)) break;
    checkSum(header);
    const size = octal(header, 124, 12);
    const start = offset + block;
    if (start + size > tar.length) throw refused("it ends in the middle of a file");
    const data = tar.subarray(start, start + size);
    offset = start + Math.ceil(size / block) * block;

    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "x") longPath = paxPath(data) ?? longPath;
    else if (type === "L") longPath = text(data, 0, data.length);
    else if (type === "0" || type === "\0" || type === "7") {
      const path = safePath(longPath ?? ustarPath(header));
      longPath = undefined;
      files.set(path, { path, isExecutable: (octal(header, 100, 8) & 0o100) !== 0, bytes: data });
      if (files.size > limits.files) throw refused(`it has more than ${limits.files} files`);
    } else if (type === "5" || type === "g") longPath = undefined;
    else throw refused(`"${longPath ?? ustarPath(header)}" is not a regular file (type ${type})`);
  }
  for (const path of files.keys()) {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1))
      if (files.has(path.slice(0, end)))
        throw refused(`"${path}" is below a path that is a file in the same archive`);
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function unzip(compressed: Uint8Array, limits: TarLimits): Promise<Buffer> {
  try {
    return await promisify(gunzip)(compressed, { maxOutputLength: limits.bytes });
  } catch (cause) {
    const tooLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw refused(
      tooLarge ? `it contains more than ${limits.bytes} bytes` : "it is not a gzip file",
      cause,
    );
  }
}

/** Verifies the sum of the header's bytes, with blanks in place of the sum itself. */
function checkSum(header: Uint8Array): void {
  let sum = 0;
  header.forEach((byte, index) => {
    sum += index >= 148 && index < 156 ? 32 : byte;
  });
  if (sum !== octal(header, 148, 8)) throw refused("the checksum of a header is wrong");
}

function ustarPath(header: Uint8Array): string {
  const prefix = text(header, 345, 155);
  const name = text(header, 0, 100);
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Records are `LENGTH KEY=VALUE\n`, the length counting the whole record in bytes. */
function paxPath(data: Uint8Array): string | undefined {
  let path: string | undefined;
  for (let offset = 0; offset < data.length; ) {
    const digits = /^\d+/.exec(text(data, offset, 20))?.[0];
    const length = Number(digits ?? 0);
    if (length === 0) throw refused("a pax record has no length");
    const record = text(data, offset, length);
    const [key, ...value] = record.slice((digits ?? "").length + 1, -1).split("=");
    if (key === "path") path = value.join("=");
    offset += length;
  }
  return path;
}

function safePath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const leadsOut =
    path.startsWith("/") || /^[A-Za-z]:|\\|\p{Cc}/u.test(path) || parts.includes("..");
  const inside = parts.slice(1);
  // A `.git` folder would be a repository within the repository.
  if (leadsOut || inside.length === 0 || inside.some((part) => part.toLowerCase() === ".git")) {
    throw refused(`the path ${JSON.stringify(path)} leads out of the archive`);
  }
  return inside.join("/");
}

function octal(header: Uint8Array, start: number, length: number): number {
  const digits = text(header, start, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw refused("a number in a header is not octal");
  return Number.parseInt(digits || "0", 8);
}

/** Returns the text up to the first NUL. */
function text(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString();
}

function refused(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `the package's archive is refused: ${why}`, { cause });
}
