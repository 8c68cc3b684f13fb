import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
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

interface Listening extends Service {
  readonly port: number;
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** How long running calls may take when the server stops; workers and pages reconnect by themselves. */
  readonly graceMs: number;
  readonly methods: readonly Method[];
  readonly logger: Logger;
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
  const { host, logger, graceMs } = options;
  const grpc = grpcServer({
    methods: options.methods,
    graceMs,
    onUnexpected: (err, path) => logger.error({ err, path }, "a call failed"),
  });
  let answer: ReturnType<typeof getRequestListener> | undefined;
  const http = createHttpServer(
    { keepAliveTimeout: keepAliveMs, requestTimeout: wholeRequestMs },
    (request, response) => {
      tellIfShort(request, response);
      if (answer === undefined || options.caches(request, response)) return;
      giveUpSlowBody(request);
      void answer(request, response);
    },
  );
  http.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (answer === undefined || options.caches(request, response, true)) return;
    giveUpSlowBody(request);
    response.writeContinue();
    void answer(request, response);
  });
  const port = onePort(http, grpc.http2, { identity: options.identity });

  await new Promise<void>((resolve, reject) => {
    port.once("error", (cause: NodeJS.ErrnoException) => reject(listenFault(cause, options)));
    port.listen(options.port, host, resolve);
  });
  const taken = (port.address() as AddressInfo).port;
  answer = getRequestListener(options.app(taken).fetch, { overrideGlobalObjects: false });

  return {
    port: taken,
    stop: () => stopOnePort(port, http, grpc, graceMs),
  };
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
    return `port ${port} is in use; stop who holds it, or choose another with --port (0 takes any)`;
  }
  if (cause.code === "EACCES") return `port ${port} needs more rights; choose one from 1024 up`;
  return `cannot listen on ${host}, port ${port}: ${messageOf(cause)}`;
}
