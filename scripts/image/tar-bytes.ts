import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Header, type HeaderData, Pax } from "tar";
import type { ImageEntry } from "./image-entry.ts";

/**
 * Yields the bytes of a tar file. All entries have the time `mtime`, so equal content gives equal bytes.
 *
 * Throws when a file changes its length while it is read.
 */
export async function* tarBytes(
  entries: readonly ImageEntry[],
  mtime: Date,
): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    switch (entry.kind) {
      case "directory":
        yield header({
          path: `${entry.path}/`,
          type: "Directory",
          mode: entry.mode,
          uid: entry.owner,
          gid: entry.owner,
          size: 0,
          mtime,
        });
        break;
      case "link":
        yield header({
          path: entry.path,
          type: "SymbolicLink",
          mode: 0o777,
          linkpath: entry.target,
          uid: 0,
          gid: 0,
          size: 0,
          mtime,
        });
        break;
      case "file":
        yield* fileBytes(entry, mtime);
        break;
    }
  }
  yield Buffer.alloc(1_024);
}

async function* fileBytes(
  { path, content, executable }: Extract<ImageEntry, { kind: "file" }>,
  mtime: Date,
): AsyncGenerator<Buffer> {
  const size = Buffer.isBuffer(content) ? content.length : (await stat(content.from)).size;
  yield header({
    path,
    type: "File",
    mode: executable ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    size,
    mtime,
  });
  let written = 0;
  if (Buffer.isBuffer(content)) {
    yield content;
    written = content.length;
  } else {
    for await (const part of createReadStream(content.from) as AsyncIterable<Buffer>) {
      written += part.length;
      yield part;
    }
  }
  if (written !== size) throw new Error(`/${path} changed its length while the image was built`);
  yield Buffer.alloc((512 - (size % 512)) % 512);
}

/** Returns the block of an entry, after a block of extended attributes when a name is too long for it. */
function header(data: HeaderData): Buffer {
  const block = Buffer.alloc(512);
  const isTooLong = new Header(data).encode(block);
  if (!isTooLong) return block;
  const { path, linkpath } = data;
  const extended = new Pax({
    ...(path === undefined ? {} : { path }),
    ...(linkpath === undefined ? {} : { linkpath }),
  });
  return Buffer.concat([extended.encode(), block]);
}
