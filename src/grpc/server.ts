import {
  createServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { FairGate } from "#core/fair-gate.ts";
import type { Service } from "#core/service.ts";
import { CallLine } from "./call-line.ts";
import { errorRateLimit } from "./error-rate-limit.ts";
import { HeldBytes, SharedBytes } from "./held-bytes.ts";
import { keepAlive } from "./keep-alive.ts";
import type { Method } from "./method.ts";
import { peerOf, readInTurns } from "./read-in-turns.ts";
import { type Around, serveStream } from "./serve-stream.ts";
import { ourSettings, sessionMemoryMb, widenSession } from "./window-sizes.ts";

/** grpc-java and grpc-go ping at most every 10 s, and to measure bandwidth up to 10 times a second. */
const mostInWindow = 1_000;

export interface GrpcServerOptions {
  readonly methods: readonly Method[];
  /** Default: 4 MiB, which clients take for granted, and room for what surrounds a blob of that size. */
  readonly maxMessageBytes?: number;
  /** For one connection. */
  readonly maxConcurrentStreams?: number;
  /** The most bytes of one connection's messages that are unfinished, unread or in use. */
  readonly maxHeldBytes?: number;
  /** The same for all connections together; and once more for answers that are not read. */
  readonly maxSharedBytes?: number;
  /** Returns by whom a connection is counted; default: its address. Each caller has a share of the shared bytes. */
  readonly callerOf?: (remoteAddress: string | undefined) => string;
  /** How long a client may be silent when it has to send or read, in ms. */
  readonly waitLimitMs?: number;
  readonly around?: Around;
  /** Called with errors that are no Fault, and the id that the answer gives the call. */
  readonly onUnexpected?: (reason: unknown, path: string, requestId: string) => void;
  /** Called when a client's connection has closed, with the `peer` of its calls; not while the server stops. */
  readonly onClosed?: (peer: string) => void;
  readonly keepAliveMs?: number;
  /** How long `stop` waits for running calls. */
  readonly graceMs?: number;
}

/** The default limit for the messages of all connections, in bytes: a few batches of 4 MiB for each core. */
const mostSharedBytes = 64 * 1_048_576;

/** The limit for invalid calls within 10 s. No working program makes so many; each costs up to 4 MiB. */
const mostRefused = 200;

/** The limit for calls within 10 s that must give up their bytes, of a connection that continues to send more. */
const mostGivenUp = 16;

/** Large requests that are decoded and dealt with at the same time. */
const largeAtOnce = 2;
/** Large answers that are read and put together at the same time: one waits for the disk meanwhile. */
const largeAnswersAtOnce = 2;
/** The most answers of one connection that are made and not read: as many batches of 4 MiB as its window holds. */
const mostUnreadAnswers = 4;

export interface GrpcServer extends Service {
  /** Does not listen itself: call `listen`, or use `onePort`. */
  readonly http2: Http2Server;
}

/** Serves gRPC over HTTP/2 without TLS. */
export function grpcServer(options: GrpcServerOptions): GrpcServer {
  const http2 = createServer({
    settings: { ...ourSettings, maxConcurrentStreams: options.maxConcurrentStreams ?? 2_000 },
    maxSessionMemory: sessionMemoryMb,
  });
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  http2.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const forStreams = {
    methods: new Map(options.methods.map((method) => [method.path, method])),
    maxMessageBytes: options.maxMessageBytes ?? 4 * 1_048_576 + 65_536,
    around: options.around ?? ((_context, next) => next()),
    onUnexpected: options.onUnexpected ?? (() => {}),
    waitLimitMs: options.waitLimitMs ?? 120_000,
    line: new CallLine(),
    large: new FairGate(largeAtOnce),
    largeAnswers: new FairGate(largeAnswersAtOnce),
  };
  const mostHeld = options.maxHeldBytes ?? mostSharedBytes;
  const mostShared = options.maxSharedBytes ?? mostSharedBytes;
  const callerOf = options.callerOf ?? ((address) => address ?? "unknown");
  const allHeld = new SharedBytes(mostShared);
  const allUnsent = new SharedBytes(mostShared);

  let stopped: Promise<void> | undefined;
  http2.on("session", (session) => {
    sessions.add(session);
    const peer = peerOf(session.socket);
    session.once("close", () => {
      sessions.delete(session);
      if (stopped === undefined) options.onClosed?.(peer);
    });
    session.on("error", () => {});
    widenSession(session);
    limitPings(session);
    keepAlive(session, options.keepAliveMs ?? 30_000, 20_000);
    const caller = callerOf(session.socket?.remoteAddress);
    const onGivenUp = errorRateLimit(session, mostGivenUp);
    const heldOf = (what: string, shared: SharedBytes) =>
      new HeldBytes({ most: mostHeld, what, shared, caller, onGivenUp });
    const held = heldOf("the messages of this connection", allHeld);
    const ofThisSession = {
      ...forStreams,
      unreadAnswers: new FairGate(mostUnreadAnswers),
      onData: readInTurns(session, held),
      onRefused: errorRateLimit(session, mostRefused),
      held,
      unsent: heldOf("the answers that this connection does not read", allUnsent),
    };
    session.on("stream", (stream, headers) => serveStream(stream, headers, ofThisSession));
  });

  return {
    http2,
    stop() {
      stopped ??= stopServer(http2, sessions, sockets, options.graceMs ?? 10_000);
      return stopped;
    },
  };
}

async function stopServer(
  http2: Http2Server,
  sessions: ReadonlySet<ServerHttp2Session>,
  sockets: ReadonlySet<Socket>,
  graceMs: number,
): Promise<void> {
  const listening = http2.listening
    ? new Promise<void>((resolve) => http2.close(() => resolve()))
    : Promise.resolve();
  const ended = [...sessions].map(
    (session) => new Promise<void>((resolve) => session.once("close", () => resolve())),
  );
  // One GOAWAY with the last stream that is served: a call that crosses it was never begun, and its client may send it
  // to another server. Two GOAWAYs, the first without a last stream, would avoid that; but Node 24's client takes the
  // second for a protocol error.
  for (const session of sessions) session.close();
  const grace = setTimeout(() => {
    for (const session of sessions) session.destroy();
    // A session that was closed before ends its side only, and waits for a peer that may never do.
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  await Promise.all(ended);
  clearTimeout(grace);
  await listening;
}

/** Ends a session whose peer sends hardly anything but pings; each costs an answer. */
function limitPings(session: Http2Session): void {
  session.on("ping", errorRateLimit(session, mostInWindow));
}
