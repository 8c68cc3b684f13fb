import { gzipSync } from "node:zlib";

export interface TarEntry {
  readonly path: string;
  readonly type?: string;
  readonly text?: string;
  readonly mode?: number;
}

/** Returns a gzipped tar of any entries, good or bad. */
export function tarballOf(...entries: TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const data = Buffer.from(entry.text ?? "");
    const padding = Buffer.alloc((512 - (data.length % 512)) % 512);
    return [headerOf(entry, data.length), data, padding];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1_024)]));
}

export function headerOf({ path, type = "0", mode = 0o644 }: TarEntry, size: number): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write(path.slice(0, 100), 0);
  bytes.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  bytes.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  bytes.write(" ".repeat(8), 148);
  bytes.write(type, 156);
  bytes.write("ustar\0" + "00", 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}
