import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Fault } from "#core/fault.ts";
import { type CallContext, ServerCallContext } from "./call-context.ts";
import { acceptedEncodings, decompressorFor } from "./compression.ts";
import { longestTimerMs, parseGrpcTimeout } from "./grpc-timeout.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { IncomingMessages } from "./incoming-messages.ts";
import { headersOf, metadataOf } from "./metadata.ts";
import type { Method } from "./method.ts";
import { okHeaders, type StatusHeaders, statusHeaders } from "./status.ts";
import { writeFramed } from "./write-framed.ts";

/** What surrounds every handler: a check of who calls, a count, a log line. */
export type Around = (context: CallContext, next: () => Promise<void>) => Promise<void>;

export interface StreamOptions {
  readonly methods: ReadonlyMap<string, Method>;
  readonly maxMessageBytes: number;
  readonly around: Around;
  /** Told of what was thrown that is not a Fault. */
  readonly onUnexpected: (reason: unknown, path: string) => void;
  readonly held: HeldBytes;
}

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
    stream.resume();
    return;
  }
  const path = headers[":path"] ?? "";
  const timeoutMs = parseGrpcTimeout(String(headers["grpc-timeout"] ?? ""));
  const deadline = timeoutMs === undefined ? undefined : new Date(Date.now() + timeoutMs);
  const { remoteAddress, remotePort } = stream.session?.socket ?? {};
  const peer = `${remoteAddress}:${remotePort}`;
  const context = new ServerCallContext(path, metadataOf(headers), deadline, peer);

  let requests: IncomingMessages | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  const end = (status: StatusHeaders) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    try {
      endStream(stream, context, status);
    } catch (reason) {
      // Metadata of a handler that HTTP cannot carry, or a stream that closed just now.
      options.onUnexpected(reason, path);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  };
  const fail = (reason: unknown) => {
    if (!(reason instanceof Fault)) options.onUnexpected(reason, path);
    end(statusHeaders(reason));
  };
  const abort = (fault: Fault) => {
    if (over) return;
    context.abort(fault);
    requests?.fail(fault);
  };

  // Without a listener, a peer's reset would end the process.
  stream.on("error", () => {});
  stream.on("close", () => {
    abort(new Fault("cancelled", "the client has gone"));
    over = true;
    clearTimeout(timer);
  });

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
    });
  } catch (reason) {
    stream.resume();
    fail(reason);
    return;
  }
  const incoming = requests;
  stream.on("end", () => incoming.finish());
  if (timeoutMs !== undefined) {
    const expire = () => {
      const fault = new Fault("deadline_exceeded", `${path} took over ${timeoutMs} ms`);
      abort(fault);
      // The handler may be deaf to the signal; the client is not made to wait for it.
      fail(fault);
    };
    timer = setTimeout(expire, Math.min(timeoutMs, longestTimerMs));
  }
  const send = async (message: Parameters<typeof writeFramed>[1]) => {
    if (over || stream.destroyed) throw new Fault("cancelled", "the call is over");
    if (!stream.headersSent) begin(stream, context);
    await writeFramed(stream, message);
  };
  options
    .around(context, () => method.serve({ context, requests: incoming, send }))
    .then(() => end(okHeaders), fail)
    .finally(() => incoming.fail(new Fault("cancelled", "the call is over")));
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
      hushAfterEnd(stream);
    });
    stream.end();
    return;
  }
  // Nothing was sent yet: headers and trailers go as one.
  const accept =
    status["grpc-status"] === "12" ? { "grpc-accept-encoding": acceptedEncodings } : {};
  const metadata = headersOf(context.responseMetadata);
  stream.respond({ ...responseHeaders, ...metadata, ...accept, ...trailers }, { endStream: true });
  hushAfterEnd(stream);
}

/** Tells a client that still sends that nobody listens, once it has its answer. */
function hushAfterEnd(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return;
  setImmediate(() => {
    // A client that has ended its side in the meantime needs no reset.
    if (!stream.destroyed && !stream.closed && !stream.readableEnded) stream.close();
  });
}

/** The HTTP status for what is not gRPC at all. */
function notGrpc(headers: IncomingHttpHeaders): number | undefined {
  if (headers[":method"] !== "POST") return 405;
  return /^application\/grpc($|[+;])/.test(headers["content-type"] ?? "") ? undefined : 415;
}
