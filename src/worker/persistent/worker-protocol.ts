import { create, fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  type WorkRequest,
  WorkRequestSchema,
  type WorkResponse,
  WorkResponseSchema,
} from "#proto/blaze/worker/worker_protocol_pb.ts";

/** How a persistent worker process reads requests and writes responses. */
export type WorkerProtocol = "proto" | "json";

/** A longer response is an error: it would be held in memory. In bytes. */
const mostResponseBytes = 16 * 1024 * 1024;
/** A varint of 32 bits has at most this many bytes. */
const mostLengthBytes = 5;

/** The process does not follow the protocol, or has ended: it can serve no more requests. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Returns a request as a process reads it: its length and its bytes, or one line of JSON. */
export function encodeRequest(
  protocol: WorkerProtocol,
  parts: Pick<WorkRequest, "arguments"> & {
    readonly inputs: readonly { readonly path: string; readonly digest: string }[];
  },
): Buffer {
  const message = create(WorkRequestSchema, {
    arguments: parts.arguments,
    inputs: parts.inputs.map(({ path, digest }) => ({ path, digest: Buffer.from(digest) })),
  });
  switch (protocol) {
    case "json":
      return Buffer.from(`${toJsonString(WorkRequestSchema, message)}\n`);
    case "proto": {
      const bytes = toBinary(WorkRequestSchema, message);
      return Buffer.concat([encodeLength(bytes.byteLength), bytes]);
    }
  }
}

/**
 * Reads responses from the standard output of a process. The bytes are hostile: lengths are bounded, and what is not a
 * response throws `ProtocolError`.
 */
export class ResponseReader {
  readonly #protocol: WorkerProtocol;
  readonly #mostBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(protocol: WorkerProtocol, mostBytes = mostResponseBytes) {
    this.#protocol = protocol;
    this.#mostBytes = mostBytes;
  }

  /** Whether bytes have arrived that are no complete response. */
  get hasMore(): boolean {
    return this.#size > 0;
  }

  /** Takes bytes. Returns the response that they complete; undefined while it is not complete. */
  push(bytes: Buffer): WorkResponse | undefined {
    this.#chunks.push(bytes);
    this.#size += bytes.byteLength;
    const part = this.#protocol === "json" ? this.#line(bytes) : this.#delimited();
    if (part === undefined) return undefined;
    const response = decode(this.#protocol, part);
    if (response.requestId !== 0)
      throw new ProtocolError(
        `it answered to request ${response.requestId}, which it does not have`,
      );
    return response;
  }

  /** Joins the chunks only when a response may be complete: many small chunks must not cost their square. */
  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #take(start: number, end: number): Buffer {
    const all = this.#joined();
    const rest = all.subarray(end);
    this.#chunks = rest.byteLength === 0 ? [] : [rest];
    this.#size = rest.byteLength;
    return all.subarray(start, end);
  }

  #line(newest: Buffer): Buffer | undefined {
    if (!newest.includes(0x0a)) {
      if (this.#size > this.#mostBytes) throw this.#tooLong();
      return undefined;
    }
    const end = this.#joined().indexOf(0x0a);
    if (end > this.#mostBytes) throw this.#tooLong();
    return this.#take(0, end + 1).subarray(0, end);
  }

  #delimited(): Buffer | undefined {
    const head = this.#size < 64 ? this.#joined() : (this.#chunks[0] ?? Buffer.alloc(0));
    const length = decodeLength(head.byteLength < mostLengthBytes ? this.#joined() : head);
    if (length === undefined) return undefined;
    if (length.value > this.#mostBytes) throw this.#tooLong();
    const end = length.bytes + length.value;
    return this.#size < end ? undefined : this.#take(length.bytes, end);
  }

  #tooLong(): ProtocolError {
    return new ProtocolError(`its response is longer than ${this.#mostBytes} bytes`);
  }
}

function decode(protocol: WorkerProtocol, bytes: Buffer): WorkResponse {
  try {
    return protocol === "json"
      ? fromJsonString(WorkResponseSchema, bytes.toString(), { ignoreUnknownFields: true })
      : fromBinary(WorkResponseSchema, bytes);
  } catch (cause) {
    throw new ProtocolError("it printed something that is not a response", { cause });
  }
}

function encodeLength(length: number): Buffer {
  const bytes: number[] = [];
  let left = length;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}

/** Returns a length and how many bytes it has; undefined while it is not complete. */
function decodeLength(from: Buffer): { value: number; bytes: number } | undefined {
  let value = 0;
  for (let at = 0; at < mostLengthBytes; at++) {
    const byte = from[at];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** at;
    if (byte < 0x80) return { value, bytes: at + 1 };
  }
  throw new ProtocolError("it printed something that is not the length of a response");
}
