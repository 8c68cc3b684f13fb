import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from "node:http2";
import { Fault, type FaultCode } from "#core/fault.ts";
import { acceptedEncodings, decompressorFor } from "./compression.ts";
import { formatGrpcTimeout } from "./grpc-timeout.ts";
import { HeldBytes } from "./held-bytes.ts";
import { IncomingMessages } from "./incoming-messages.ts";
import { headersOf, type Metadata, metadataOf } from "./metadata.ts";
import { endOf } from "./status.ts";

interface ClientCallOptions {
  readonly path: string;
  readonly metadata: Metadata;
  readonly timeoutMs: number | undefined;
  readonly maxMessageBytes: number;
  readonly onHeaders: ((metadata: Metadata) => void) | undefined;
  readonly onTrailers: ((metadata: Metadata) => void) | undefined;
}

/** A running call: its sent and received messages. */
export interface ClientCall {
  readonly stream: ClientHttp2Stream;
  /** Ends with the call: normally, or with the Fault for the server's status. */
  readonly responses: IncomingMessages;
  readonly cancel: (fault: Fault) => void;
}

/** Opens a stream for a call. The caller sends its messages. */
export function openCall(session: ClientHttp2Session, options: ClientCallOptions): ClientCall {
  const stream = session.request(
    {
      ":method": "POST",
      ":path": options.path,
      te: "trailers",
      "content-type": "application/grpc+proto",
      "grpc-accept-encoding": acceptedEncodings,
      "user-agent": "grange",
      ...(options.timeoutMs === undefined
        ? {}
        : { "grpc-timeout": formatGrpcTimeout(options.timeoutMs) }),
      ...headersOf(options.metadata),
    },
    { endStream: false },
  );
  let encoding: string | undefined;
  let httpFault: Fault | undefined;
  let end: ReturnType<typeof endOf>;
  const responses = new IncomingMessages(stream, {
    maxMessageBytes: options.maxMessageBytes,
    decompress: async (bytes, most) => await decompressorFor(encoding)(bytes, most),
    held: new HeldBytes({ most: Number.POSITIVE_INFINITY, what: "the answers of this call" }),
  });
  const finish = () => {
    if (httpFault !== undefined) responses.fail(httpFault);
    else if (end === undefined) responses.fail(faultOfReset(stream.rstCode));
    else if (end.kind === "failed") responses.failAfter(end.fault);
    else responses.finish();
    // The server has answered early and reads no more of the request.
    if (!stream.writableEnded && !stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  };

  stream.on("response", (headers) => {
    encoding = headers["grpc-encoding"]?.toString();
    options.onHeaders?.(metadataOf(headers));
    end = endOf(headers);
    if (end === undefined) httpFault = faultOfHttp(headers);
    else options.onTrailers?.(metadataOf(headers));
  });
  stream.on("trailers", (headers) => {
    end = endOf(headers);
    options.onTrailers?.(metadataOf(headers));
  });
  // The status has usually arrived by then; otherwise 'close' settles the call.
  stream.on("end", () => {
    if (end !== undefined) finish();
  });
  stream.on("close", finish);
  // The reason is in the status or in rstCode; the listener only prevents an unhandled error.
  stream.on("error", () => {});

  return {
    stream,
    responses,
    cancel(fault) {
      responses.fail(fault);
      if (end === undefined && !stream.closed) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}

/** Returns the meaning of a stream that ended without a status. Source: gRPC over HTTP/2, "Errors". */
function faultOfReset(rstCode: number | undefined): Fault {
  return (
    resetFaults.get(rstCode)?.() ??
    new Fault("unavailable", "the connection ended before the call did")
  );
}

const resetFaults = new Map<number | undefined, () => Fault>([
  [
    constants.NGHTTP2_REFUSED_STREAM,
    () => new Fault("unavailable", "the server accepts no more calls"),
  ],
  [
    constants.NGHTTP2_ENHANCE_YOUR_CALM,
    () =>
      new Fault(
        "resource_exhausted",
        "the server refused the connection because of too many headers or calls",
      ),
  ],
  [
    constants.NGHTTP2_INADEQUATE_SECURITY,
    () => new Fault("permission_denied", "the server requires a more secure connection"),
  ],
]);

/**
 * Returns the fault for an answer of a proxy or web server that is not gRPC. Source: gRPC, "HTTP to gRPC status
 * mapping".
 */
function faultOfHttp(headers: IncomingHttpHeaders): Fault | undefined {
  const status = Number(headers[":status"]);
  if (status === 200) {
    const type = headers["content-type"] ?? "";
    if (type.startsWith("application/grpc")) return undefined;
    return new Fault(
      "internal",
      `the answer is not gRPC; its content type is ${type || "missing"}`,
    );
  }
  const code: FaultCode = httpCodes.get(status) ?? "internal";
  return new Fault(code, `the server answered HTTP ${status}`);
}

const httpCodes = new Map<number, FaultCode>([
  [400, "internal"],
  [401, "unauthenticated"],
  [403, "permission_denied"],
  [404, "unimplemented"],
  [429, "unavailable"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "unavailable"],
]);
