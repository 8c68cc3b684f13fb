import {
  createServer as createHttpServer,
  type IncomingMessage,
  maxHeaderSize,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { CacheHandler } from "#caches/http/cache-handler.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Method } from "#grpc/method.ts";
import { onePort, stopOnePort } from "#grpc/one-port.ts";
import { peerOf } from "#grpc/read-in-turns.ts";
import { grpcServer } from "#grpc/server.ts";
import type { TlsIdentity } from "#grpc/tls-handshakes.ts";
import { shortWork } from "#scheduling/take-turns.ts";
import { tracedCalls, tracedRequests } from "#tracing/traced-calls.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { faultToHttp } from "./http/fault-to-http.ts";
import { requesterAddress } from "./request-limits/requester-address.ts";

interface Listening extends Service {
  readonly port: number;
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** How long running calls may take when the server stops; workers and pages reconnect by themselves. */
  readonly graceMs: number;
  /** For messages of gRPC that are unfinished, and once more for answers that are not read. In bytes. */
  readonly messageMemory?: number;
  readonly methods: readonly Method[];
  /** Called when the connection of a gRPC client has closed, with the `peer` of its calls. */
  readonly onClosed?: (peer: string) => void;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
  /** When present, the port speaks TLS only. */
  readonly identity?: (() => TlsIdentity) | undefined;
  /** Created when the port is known. */
  readonly app: (port: number) => Hono;
  /** Called first; requests that it does not handle go to `app`. */
  readonly caches: CacheHandler;
}

/**
 * Longer than any build tool waits before it reuses an idle connection, so that no tool sends a request on a connection
 * that the server closes.
 */
const keepAliveMs = 100_000;
/** For a whole request; a large cache entry over a slow connection takes long. */
const wholeRequestMs = 6 * 60 * 60_000;
/** For the body of any other request. */
const smallBodyMs = 5 * 60_000;

/** A request with at most this many bytes is answered within a few steps. */
const smallBytes = 65_536;

/** Opens the one port for HTTP/1.1 and gRPC. No request is answered before all parts are ready. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, logger, graceMs, tracing } = options;
  const around = tracedCalls(tracing);
  const grpc = grpcServer({
    methods: options.methods,
    ...(options.onClosed === undefined ? {} : { onClosed: options.onClosed }),
    graceMs,
    ...(around === undefined ? {} : { around }),
    ...(options.messageMemory === undefined
      ? {}
      : { maxSharedBytes: options.messageMemory, maxHeldBytes: options.messageMemory }),
    callerOf: (address) => requesterAddress(address, undefined),
    onUnexpected: (err, path, requestId) => logger.error({ err, path, requestId }, "a call failed"),
  });
  let answer: ReturnType<typeof getRequestListener> | undefined;
  const http = createHttpServer(
    { keepAliveTimeout: keepAliveMs, requestTimeout: wholeRequestMs },
    tracedRequests(tracing, (request, response) => {
      tellIfShort(request, response);
      if (answer === undefined || options.caches(request, response)) return;
      giveUpSlowBody(request);
      void answer(request, response);
    }),
  );
  http.on("clientError", refuseMalformed);
  http.on(
    "checkContinue",
    tracedRequests(tracing, (request, response) => {
      if (answer === undefined || options.caches(request, response, true)) return;
      giveUpSlowBody(request);
      response.writeContinue();
      void answer(request, response);
    }),
  );
  const port = onePort(http, grpc.http2, { identity: options.identity });

  await new Promise<void>((resolve, reject) => {
    port.once("error", (cause: NodeJS.ErrnoException) => reject(listenFault(cause, options)));
    port.listen(options.port, host, resolve);
  });
  const taken = (port.address() as AddressInfo).port;
  answer = getRequestListener(options.app(taken).fetch, {
    overrideGlobalObjects: false,
    // Requests of HTTP/1.0 need no Host: HAProxy checks the health of a server by such requests. Node refuses requests of
    // HTTP/1.1 without it.
    hostname: "localhost",
  });

  return {
    port: taken,
    stop: () => stopOnePort(port, http, grpc, graceMs),
  };
}

/** Returns the status and the sentence for bytes that are no acceptable HTTP/1.1 request. */
function malformedAnswer(code: string | undefined): { status: string; fault: Fault } {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: "431 Request Header Fields Too Large",
        fault: new Fault(
          "invalid_argument",
          `the address and the headers of a request have at most ${maxHeaderSize} bytes together`,
        ),
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return {
        status: "408 Request Timeout",
        fault: new Fault("deadline_exceeded", "the request did not arrive in time"),
      };
    case undefined:
    default:
      return {
        status: "400 Bad Request",
        fault: new Fault("invalid_argument", "this is no request of HTTP/1.1"),
      };
  }
}

/** Answers such bytes as the API answers failures, and closes the connection. Node's own answer has no body. */
function refuseMalformed(reason: NodeJS.ErrnoException, socket: Duplex): void {
  const answering = (socket as { readonly _httpMessage?: { readonly headersSent?: boolean } })
    ._httpMessage;
  // The client has gone, or reads another answer.
  if (reason.code === "ECONNRESET" || !socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, fault } = malformedAnswer(reason.code);
  const body = JSON.stringify(faultToHttp(fault).body);
  const headers = [
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n${body}`);
}

/** Registers a small request as short work; long work pauses meanwhile. */
function tellIfShort(request: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length = 0, "transfer-encoding": encoding } = request.headers;
  if (encoding !== undefined || Number(length) > smallBytes) return;
  response.once("close", shortWork(peerOf(request.socket)));
}

function giveUpSlowBody(request: IncomingMessage): void {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, smallBodyMs).unref();
  request.once("close", () => clearTimeout(timer));
}

function listenFault(cause: NodeJS.ErrnoException, { host, port }: ListenOptions): Fault {
  return new Fault("failed_precondition", whyNot(cause, host, port), { cause });
}

function whyNot(cause: NodeJS.ErrnoException, host: string, port: number): string {
  if (cause.code === "EADDRINUSE") {
    return `port ${port} is in use; stop the program that uses it, or choose another port with --port (0 chooses a free one)`;
  }
  if (cause.code === "EACCES") return `port ${port} needs more rights; choose one from 1024 up`;
  return `cannot listen on ${host}, port ${port}: ${messageOf(cause)}`;
}
