import type { LogStreamName } from "#caches/rev2/log-stream-name.ts";
import { Fault } from "#core/fault.ts";
import { ExecutionId } from "#execution/execution.ts";
import { readResponse } from "#grpc/byte-stream-wire.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { ServerCall } from "#grpc/method.ts";
import type { ReadRequest } from "#proto/google/bytestream/bytestream_pb.ts";
import type { Ticket } from "../change-feed.ts";
import type { LogPiece } from "../log-piece.ts";

interface LogStreamParts {
  /** Throws `permission_denied` for callers that may not read the logs of a project. */
  readonly requireMayRead: (project: string, context: CallContext) => Promise<void>;
  /** Returns undefined when the project has no such execution. */
  readonly read: (
    log: {
      readonly id: ExecutionId;
      readonly project: string;
      readonly stream: "stdout" | "stderr";
    },
    offset: number,
    most: number,
  ) => Promise<LogPiece | undefined>;
  readonly changes: (id: ExecutionId) => Ticket;
}

const mostPieceBytes = 256 * 1024;
/** A notification may be lost together with the database connection, and a right may be taken away. */
const looksAgainMs = 7_000;
/** Each stream reads again for every line: only a large company has so many followers. */
const mostStreams = 2_000;

/**
 * Streams the output of an attempt, from an offset to its end, while it runs and as long as it is stored.
 *
 * Standard error is not separate before the end, and is sent then.
 */
export function logStreams({ requireMayRead, read, changes }: LogStreamParts) {
  let open = 0;

  return async (name: LogStreamName, request: ReadRequest, call: ServerCall): Promise<void> => {
    // Before the name is looked at further; `follow` checks it again before each piece.
    await requireMayRead(name.project, call.context);
    const offset = Number(request.readOffset);
    const limit = Number(request.readLimit);
    if (offset < 0 || limit < 0) {
      throw new Fault(
        "invalid_argument",
        `offset (${offset}) and limit (${limit}) must not be negative`,
      );
    }
    const id = ExecutionId.safeParse(name.executionId).data;
    if (id === undefined) throw unknown(name);
    if (open >= mostStreams) {
      throw new Fault(
        "resource_exhausted",
        `clients of this server already follow ${mostStreams} logs, which is the limit; try again later`,
      );
    }
    open++;
    const ticket = changes(id);
    try {
      await follow({ ...name, id }, { offset, left: limit === 0 ? Infinity : limit }, call, ticket);
    } finally {
      ticket.drop();
      open--;
    }
  };

  async function follow(
    log: LogStreamName & { readonly id: ExecutionId },
    from: { readonly offset: number; readonly left: number },
    { context, send }: ServerCall,
    ticket: Ticket,
  ): Promise<void> {
    const { signal } = context;
    let { offset, left } = from;
    while (left > 0) {
      await requireMayRead(log.project, context);
      const piece = await read(log, offset, Math.min(mostPieceBytes, left));
      if (piece === undefined || piece.attempt < log.attempt) throw unknown(log);
      // The attempt was given up, and another one has begun.
      if (piece.attempt > log.attempt) return;
      signal.throwIfAborted();
      if (piece.bytes.byteLength > 0) await send(readResponse(piece.bytes));
      offset += piece.bytes.byteLength;
      left -= piece.bytes.byteLength;
      if (piece.complete) return;
      if (piece.bytes.byteLength === 0) await ticket.changed(looksAgainMs, signal);
      signal.throwIfAborted();
    }
  }
}

function unknown({ executionId, attempt }: LogStreamName): Fault {
  return new Fault(
    "not_found",
    `there is no log of attempt ${attempt} of execution ${executionId}`,
  );
}
