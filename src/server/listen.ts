import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Method } from "#grpc/method.ts";
import { onePort } from "#grpc/one-port.ts";
import { grpcServer } from "#grpc/server.ts";

export interface Listening extends Service {
  readonly port: number;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly methods: readonly Method[];
  readonly logger: Logger;
  /** Made once the port is known. */
  readonly app: (port: number) => Hono;
}

/** How long calls in hand may take when the server stops; workers and pages come back by themselves. */
const graceMs = 1_500;

/** Opens the one port that speaks HTTP/1.1 and gRPC. Nothing is answered before all is ready. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, logger } = options;
  const grpc = grpcServer({
    methods: options.methods,
    graceMs,
    onUnexpected: (err, path) => logger.error({ err, path }, "a call failed"),
  });
  let answer: ReturnType<typeof getRequestListener> | undefined;
  const http = createHttpServer((request, response) => {
    if (answer !== undefined) void answer(request, response);
  });
  const port = onePort(http, grpc.http2);

  await new Promise<void>((resolve, reject) => {
    port.once("error", (cause: NodeJS.ErrnoException) => reject(listenFault(cause, options)));
    port.listen(options.port, host, resolve);
  });
  const taken = (port.address() as AddressInfo).port;
  answer = getRequestListener(options.app(taken).fetch, { overrideGlobalObjects: false });

  return {
    port: taken,
    async stop() {
      const closed = new Promise<void>((resolve) => port.close(() => resolve()));
      http.closeIdleConnections();
      const cut = setTimeout(() => http.closeAllConnections(), graceMs);
      await grpc.stop();
      http.closeAllConnections();
      await closed;
      clearTimeout(cut);
    },
  };
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
