import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import { requestIdFrom, requestIdHeader } from "#core/request-id.ts";
import { bytesPerMs } from "#scheduling/pieces-in-turns.ts";
import { myTurn, shortWork } from "#scheduling/take-turns.ts";
import { type CallContext, ServerCallContext } from "./call-context.ts";
import type { CallLine } from "./call-line.ts";
import { acceptedEncodings, decompressorFor } from "./compression.ts";
import { MalformedRequest } from "./decode-request.ts";
import type { Payload } from "./frame.ts";
import { longestTimerMs, parseGrpcTimeout } from "./grpc-timeout.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { IncomingMessages } from "./incoming-messages.ts";
import { certificateOn } from "./issued-to.ts";
import { headersOf, metadataOf } from "./metadata.ts";
import type { Method } from "./method.ts";
import { peerOf } from "./read-in-turns.ts";
import { okHeaders, type StatusHeaders, statusHeaders } from "./status.ts";
import { writeFramed } from "./write-framed.ts";

/** Wraps every handler: checks the caller, counts, and logs. */
export type Around = (context: CallContext, next: () => Promise<void>) => Promise<void>;

interface StreamOptions {
  readonly methods: ReadonlyMap<string, Method>;
  readonly maxMessageBytes: number;
  readonly around: Around;
  /** Called with errors that are no Fault. */
  readonly onUnexpected: (reason: unknown, path: string, requestId: string) => void;
  /** Called whenever bytes have arrived. */
  readonly onData: () => void;
  /** Called for each invalid call. */
  readonly onRefused: () => void;
  /** The bytes that the connection has sent. */
  readonly held: HeldBytes;
  /** The bytes of answers that it does not read. */
  readonly unsent: HeldBytes;
  /** In which calls begin. */
  readonly line: CallLine;
  /** For large requests; only a few are processed at a time. */
  readonly large: FairGate;
  /** For large answers; only a few are created at a time. */
  readonly largeAnswers: FairGate;
  /** Limits the answers of the connection: none is made before earlier ones were read. */
  readonly unreadAnswers: FairGate;
  /** How long the client may be silent when it has to send or read, in ms. */
  readonly waitLimitMs: number;
}

/** Decoded, such a message may be many times as large, and holds the event loop for a while. */
const largeBytes = 65_536;

/** One object for all: making a fault takes 30 µs, mostly for its stack trace, and every successful call needs one. */
const callIsOver = new Fault("cancelled", "the call is over");

const responseHeaders = { ":status": 200, "content-type": "application/grpc+proto" } as const;

/** Serves one HTTP/2 stream as one gRPC call. Never throws: the stream gets every failure. */
export function serveStream(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  options: StreamOptions,
): void {
  const refused = notGrpc(headers);
  if (refused !== undefined) {
    stream.respond({ ":status": refused }, { endStream: true });
    stream.on("data", options.onData);
    return;
  }
  const path = headers[":path"] ?? "";
  const timeoutMs = parseGrpcTimeout(String(headers["grpc-timeout"] ?? ""));
  const deadline = timeoutMs === undefined ? undefined : new Date(Date.now() + timeoutMs);
  const socket = stream.session?.socket;
  const peer = peerOf(socket);
  const isPrivate = stream.session?.encrypted === true || isLoopbackAddress(socket?.remoteAddress);
  const metadata = metadataOf(headers);
  const { issuedTo, refusal } = certificateOn(socket);
  const context = new ServerCallContext(path, metadata, deadline, peer, isPrivate, issuedTo);

  let requests: IncomingMessages | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let isBegun = false;
  let isAllHere = false;
  let endShortWork = () => {};

  const end = (status: StatusHeaders) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    endShortWork();
    try {
      endStream(stream, context, status);
      // The rest is sent when the client reads it, or is dropped with the stream.
      stream.setTimeout(options.waitLimitMs, () => stream.close(constants.NGHTTP2_CANCEL));
    } catch (reason) {
      // Metadata of a handler that HTTP cannot carry, or a stream that closed just now.
      options.onUnexpected(reason, path, requestIdFrom(metadata[requestIdHeader]));
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  };
  const fail = (reason: unknown) => {
    if (!(reason instanceof Fault)) {
      const requestId = requestIdFrom(metadata[requestIdHeader]);
      context.trailers = { ...context.trailers, [requestIdHeader]: requestId };
      options.onUnexpected(reason, path, requestId);
    }
    end(statusHeaders(reason));
    if (isClientsFault(reason)) options.onRefused();
  };
  const abort = (fault: Fault) => {
    if (over) return;
    context.abort(fault);
    requests?.fail(fault);
  };

  // Without a listener, a peer's reset would end the process.
  stream.on("error", () => {});
  // For unknown methods, too: dropping bytes takes as long as reading them.
  stream.on("data", options.onData);
  stream.on("close", () => {
    if (!over) abort(new Fault("cancelled", "the client has disconnected"));
    over = true;
    clearTimeout(timer);
    endShortWork();
  });

  if (refusal !== undefined) {
    stream.resume();
    fail(refusal);
    return;
  }
  const method = options.methods.get(path);
  if (method === undefined) {
    stream.resume();
    fail(new Fault("unimplemented", `${path} is not served here`));
    return;
  }
  try {
    requests = new IncomingMessages(stream, {
      maxMessageBytes: options.maxMessageBytes,
      decompress: decompressorFor(headers["grpc-encoding"]?.toString()),
      held: options.held,
      waitLimitMs: options.waitLimitMs,
    });
  } catch (reason) {
    stream.resume();
    fail(reason);
    return;
  }
  const incoming = requests;
  const countAsShort = () => {
    if (method.isBackground === true) return;
    const isShort = isBegun && isAllHere && incoming.receivedBytes < largeBytes;
    if (isShort && !over) endShortWork = shortWork(peer);
  };
  stream.on("end", () => {
    isAllHere = true;
    countAsShort();
    incoming.finish();
  });
  if (timeoutMs !== undefined) {
    const expire = () => {
      const fault = new Fault("deadline_exceeded", `${path} took longer than ${timeoutMs} ms`);
      abort(fault);
      // The handler may ignore the signal, but the client must not wait for it.
      fail(fault);
    };
    timer = setTimeout(expire, Math.min(timeoutMs, longestTimerMs));
  }
  const send = async (message: Payload) => {
    if (over || stream.destroyed) throw new Fault("cancelled", "the call is over");
    if (!stream.headersSent) begin(stream, context);
    await sendHeld(stream, message, options);
  };
  const through = <T>(gate: FairGate, owedMs: number, work: () => T | Promise<T>) => {
    endShortWork();
    const inLine = async () => {
      await myTurn(peer, owedMs);
      context.signal.throwIfAborted();
      return work();
    };
    return gate.through(peer, inLine, context.signal);
  };
  const inTurn = <T>(bytes: number, work: () => T | Promise<T>) =>
    bytes < largeBytes ? work() : through(options.large, 0, work);
  const sendInTurn = async (bytes: number, make: () => Promise<Payload>) => {
    if (bytes < largeBytes) return send(await make());
    const sent = async () => send(await through(options.largeAnswers, bytes / bytesPerMs, make));
    await options.unreadAnswers.through(peer, sent, context.signal);
  };
  const call = { context, requests: incoming, send, inTurn, sendInTurn };
  options.line.begin(peer, () => {
    if (over) return false;
    isBegun = true;
    countAsShort();
    void options
      .around(context, () => method.serve(call))
      .then(() => end(okHeaders), fail)
      .finally(() => incoming.fail(callIsOver));
    return true;
  });
}

/** Returns whether the request is invalid at any time: malformed, or for something impossible. */
function isClientsFault(reason: unknown): boolean {
  const isFault = reason instanceof Fault;
  return isFault && (reason instanceof MalformedRequest || reason.code === "invalid_argument");
}

/**
 * Sends a message, which counts as held until the client takes it. The stream of a client that reads nothing is closed.
 */
async function sendHeld(
  stream: ServerHttp2Stream,
  message: Payload,
  { unsent, waitLimitMs }: StreamOptions,
): Promise<void> {
  const bytes = message instanceof Uint8Array ? message.byteLength : sizeOf(message);
  // The call is over for its client, which may make it again.
  const claim = unsent.claim(() => {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    claim.set(0);
  });
  try {
    claim.set(bytes);
    const sent = writeFramed(stream, message);
    if (!stream.writableNeedDrain) return await sent;
    // The time counts from the last sent bytes, even if few.
    const giveUp = () => stream.close(constants.NGHTTP2_CANCEL);
    stream.setTimeout(waitLimitMs, giveUp);
    await sent;
    // Named again, or each message of a long answer would leave a listener behind.
    if (!stream.destroyed) stream.setTimeout(0, giveUp);
  } finally {
    claim.set(0);
  }
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.byteLength, 0);
}

function begin(stream: ServerHttp2Stream, context: ServerCallContext): void {
  const metadata = headersOf(context.responseMetadata);
  stream.respond({ ...responseHeaders, ...metadata }, { waitForTrailers: true });
}

function endStream(
  stream: ServerHttp2Stream,
  context: ServerCallContext,
  status: StatusHeaders,
): void {
  if (stream.destroyed || stream.closed) return;
  const trailers = { ...headersOf(context.trailers), ...status };
  if (stream.headersSent) {
    stream.once("wantTrailers", () => {
      stream.sendTrailers(trailers);
      resetUnlessEnded(stream);
    });
    stream.end();
    return;
  }
  // Nothing was sent yet, so headers and trailers are sent together.
  const accept =
    status["grpc-status"] === "12" ? { "grpc-accept-encoding": acceptedEncodings } : {};
  const metadata = headersOf(context.responseMetadata);
  stream.respond({ ...responseHeaders, ...metadata, ...accept, ...trailers }, { endStream: true });
  resetUnlessEnded(stream);
}

/** Resets the stream of a client that keeps sending after its answer. */
function resetUnlessEnded(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  setImmediate(() => {
    // A client that has ended its side in the meantime needs no reset.
    if (!stream.destroyed && !stream.closed && !stream.readableEnded) stream.close();
  });
}

/** Returns the HTTP status for a request that is not gRPC. */
function notGrpc(headers: IncomingHttpHeaders): number | undefined {
  if (headers[":method"] !== "POST") return 405;
  return /^application\/grpc($|[+;])/.test(headers["content-type"] ?? "") ? undefined : 415;
}

/** Returns whether an address of a socket is loopback; IPv4 on a dual-stack socket has a prefix. */
function isLoopbackAddress(address: string | undefined): boolean {
  return address === "::1" || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address ?? "");
}
