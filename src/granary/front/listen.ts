import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import type { UploadStore } from "#cas/upload-store.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { onePort, stopOnePort } from "#grpc/one-port.ts";
import { grpcServer } from "#grpc/server.ts";
import { tracedCalls, tracedRequests } from "#tracing/traced-calls.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { BuildRegistry } from "../builds/build.ts";
import type { Relay } from "../farm/relay.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { TieredCache } from "../tiered-cache/tiered-cache.ts";
import { ownConnections } from "./connection-owner.ts";
import { frontHost, httpFront } from "./http.ts";
import { rev2Methods } from "./rev2.ts";

interface FrontParts {
  /** 0: any free port. It listens only on the loopback interface. */
  readonly port: number;
  readonly tieredCache: TieredCache;
  readonly store: GranaryStore;
  /** The uploads of `openDiskUploads` over the store's blobs. */
  readonly uploads: UploadStore;
  readonly builds: BuildRegistry;
  /** Passes on calls of remote execution; undefined: they are not served. */
  readonly relay: Relay | undefined;
  readonly mostEntryBytes: number;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

interface Front extends Service {
  readonly port: number;
}

/**
 * Longer than any build tool keeps an idle connection for its next request, so a tool never writes into a connection
 * that the granary closes.
 */
const keepAliveMs = 100_000;

const graceMs = 500;

/** Opens the port for this machine's build tools: HTTP caches and REv2, on 127.0.0.1. */
export async function openFront(wanted: FrontParts): Promise<Front> {
  const { logger, tracing } = wanted;
  const around = tracedCalls(tracing);
  const parts = { ...wanted, isOwn: ownConnections() };
  const grpc = grpcServer({
    methods: rev2Methods({ ...parts, ownPort: () => (port.address() as AddressInfo).port }),
    graceMs,
    ...(around === undefined ? {} : { around }),
    onUnexpected: (err, path, requestId) => logger.error({ err, path, requestId }, "a call failed"),
  });
  const answer = tracedRequests(tracing, httpFront(parts));
  const http = createServer(
    { keepAliveTimeout: keepAliveMs, requestTimeout: 0 },
    (request, response) => answer(request, response, false),
  );
  http.on("checkContinue", (request, response) => answer(request, response, true));
  const port = onePort(http, grpc.http2);

  await new Promise<void>((resolve, reject) => {
    port.once("error", (cause: NodeJS.ErrnoException) => reject(listenFault(cause, parts.port)));
    port.listen(parts.port, frontHost, resolve);
  });

  return {
    port: (port.address() as AddressInfo).port,
    stop: () => stopOnePort(port, http, grpc, graceMs),
  };
}

function listenFault(cause: NodeJS.ErrnoException, port: number): Fault {
  const why =
    cause.code === "EADDRINUSE"
      ? `port ${port} is in use; stop the program that uses it, or choose another (0 means any)`
      : `cannot listen on ${frontHost}, port ${port}: ${messageOf(cause)}`;
  return new Fault("failed_precondition", why, { cause });
}
