import { z } from "zod";
import { longestLogBytes } from "#core/log-limit.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ExecutionId } from "../execution.ts";
import type { Lease } from "../leasing/lease.ts";
import { notifyLog } from "../notify.store.ts";
import { fitLogChunk } from "./fit-log-chunk.ts";

/** A part of a log; `offset` counts its bytes from the beginning. */
export interface LogChunk {
  readonly lease: Lease;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface LogAppended {
  /** The offset of the next chunk. */
  readonly nextOffset: number;
  readonly accepted: boolean;
}

/**
 * Appends to the log of a running attempt.
 *
 * A chunk that is sent twice is stored once. A gap is refused, with the offset to continue from. Returns undefined when
 * the lease is over: a late worker cannot add to a log that another worker writes now.
 */
export async function appendLogChunk(
  tx: Tx,
  chunk: LogChunk,
  limit: number = longestLogBytes,
): Promise<LogAppended | undefined> {
  const { lease } = chunk;
  // The lock serialises appends of one attempt and its end. It is a separate statement, because only a later statement
  // sees rows that were appended while this one waited.
  const held = await tx.many(
    z.object({}),
    sql`
      select from execution
      where id = ${lease.executionId} and state = 'leased'
        and attempt = ${lease.attempt} and epoch = ${lease.epoch}
      for no key update
    `,
  );
  if (held.length === 0) return undefined;
  const [last] = await tx.many(
    z.object({ end: z.number() }),
    sql`
      select byte_offset + octet_length(bytes) as end from log_chunk
      where execution_id = ${lease.executionId} and attempt = ${lease.attempt}
      order by byte_offset desc limit 1
    `,
  );
  const { store, ...answer } = fitLogChunk({ ...chunk, stored: last?.end ?? 0, limit });
  if (store !== undefined) {
    await tx.run(sql`
      insert into log_chunk (execution_id, attempt, byte_offset, bytes)
      values (${lease.executionId}, ${lease.attempt}, ${store.offset}, ${Buffer.from(store.bytes)})
    `);
    await notifyLog(tx, lease.executionId);
  }
  return answer;
}

interface LogPart {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
  /** The attempt has ended: when a read returns no bytes, the log is complete. */
  readonly isOver: boolean;
  /** There may be more bytes, also if it has fewer than were requested. */
  readonly mayHaveMore: boolean;
}

/** The number of chunks that a read checks; with the smallest chunks of a worker, some hundred kilobytes. */
const chunksPerRead = 256;

/** Reads the log of an attempt, from a byte offset; returns `most` bytes or slightly less. */
export async function readLog(
  tx: Tx,
  log: { readonly executionId: ExecutionId; readonly attempt: number },
  offset: number,
  most: number,
): Promise<LogPart | undefined> {
  // Read the state first: rows added between the two statements are then only found early.
  const [execution] = await tx.many(
    z.object({ isOver: z.boolean() }),
    sql`
      select state <> 'leased' or attempt <> ${log.attempt} as "isOver"
      from execution where id = ${log.executionId}
    `,
  );
  if (execution === undefined) return undefined;
  const chunks = await tx.many(
    z.object({ offset: z.number(), bytes: z.instanceof(Uint8Array) }),
    sql`
      select byte_offset as offset, bytes from log_chunk
      where execution_id = ${log.executionId} and attempt = ${log.attempt}
        and byte_offset < ${offset + most}
        and byte_offset >= coalesce((
          select byte_offset from log_chunk
          where execution_id = ${log.executionId} and attempt = ${log.attempt}
            and byte_offset <= ${offset}
          order by byte_offset desc limit 1), 0)
      order by byte_offset limit ${chunksPerRead}
    `,
  );
  const bytes = Buffer.concat(
    chunks.map((chunk) => {
      const from = Math.max(0, offset - chunk.offset);
      return chunk.bytes.subarray(from, offset + most - chunk.offset);
    }),
  );
  const mayHaveMore = chunks.length === chunksPerRead || bytes.length >= most;
  return { bytes, nextOffset: offset + bytes.length, isOver: execution.isOver, mayHaveMore };
}

/**
 * Deletes the logs of attempts that are returned as not started.
 *
 * Such a log exists when the report of the start was lost. The next worker has the same attempt and would append after
 * these bytes. Call it with the executions locked.
 */
export async function dropAttemptLogs(
  tx: Tx,
  attempts: readonly { readonly id: ExecutionId; readonly attempt: number }[],
): Promise<void> {
  await tx.run(sql`
    delete from log_chunk
    using unnest(
      ${attempts.map(({ id }) => id)}::uuid[],
      ${attempts.map(({ attempt }) => attempt)}::integer[]
    ) as returned (id, attempt)
    where log_chunk.execution_id = returned.id and log_chunk.attempt = returned.attempt
  `);
}

/** Deletes the stored logs of executions that are now stored as blobs. Logs of running executions are left alone. */
export function dropLogs(tx: Tx, ids: readonly ExecutionId[]): Promise<number> {
  return tx.run(sql`
    delete from log_chunk
    where execution_id in (
      select id from execution where id = any(${ids}::uuid[]) and state = 'finished')
  `);
}
