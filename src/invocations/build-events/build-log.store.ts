import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { BuildKey } from "./build.store.ts";

/** Appends to the output of a build. The caller has locked the build's row, and knows the end of its log. */
export async function appendPrinted(
  tx: Tx,
  { project, invocation }: BuildKey,
  offset: number,
  bytes: Uint8Array,
): Promise<void> {
  if (bytes.length === 0) return;
  await tx.run(sql`
    insert into build_log (project, invocation, byte_offset, bytes)
    values (${project}, ${invocation}, ${offset}, ${Buffer.from(bytes)})
  `);
}

interface PrintedPart {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
}

/** Chunks are as small as a tool's events: a read loads this many. */
const chunksPerRead = 1_024;

/** Reads the output of a build from a byte offset, `most` bytes or fewer; empty at its end. */
export async function printedLog(
  tx: Tx,
  project: string,
  invocation: string,
  offset: number,
  most: number,
): Promise<PrintedPart> {
  const chunks = await tx.many(
    z.object({ offset: z.number(), bytes: z.instanceof(Uint8Array) }),
    sql`
      select byte_offset as offset, bytes from build_log
      where project = ${project} and invocation = ${invocation}
        and byte_offset < ${offset + most}
        and byte_offset >= coalesce((
          select byte_offset from build_log
          where project = ${project} and invocation = ${invocation} and byte_offset <= ${offset}
          order by byte_offset desc limit 1), 0)
      order by byte_offset limit ${chunksPerRead}
    `,
  );
  const bytes = Buffer.concat(
    chunks.map((chunk) =>
      chunk.bytes.subarray(Math.max(0, offset - chunk.offset), offset + most - chunk.offset),
    ),
  );
  return { bytes, nextOffset: offset + bytes.length };
}
