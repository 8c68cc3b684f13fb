import type { BlobStore } from "#cas/blob-store.ts";
import { withUsualAuthorities } from "#grpc/authorities.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import type { WorkerConfig } from "./config.ts";
import { farmAddress } from "./farm-address.ts";
import type { FarmConnection } from "./farm-connection.ts";

/** Longer than any call takes, except calls that wait on purpose. */
const callTimeoutMs = 15_000;

/** Longer than the wait that a claim requests. */
const claimTimeoutMs = 35_000;

/** Longer than the wait for cancellations. */
const cancellationsTimeoutMs = 70_000;

/** The farm over gRPC, on one connection that is opened again when it is lost. */
export function grpcFarmConnection(
  config: Pick<WorkerConfig, "server" | "serverFile" | "token" | "ca" | "clientCertificate">,
): FarmConnection {
  const { server, serverFile, token, ca, clientCertificate } = config;
  const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const channel = new GrpcChannel({
    // Read for each new connection.
    get url() {
      return farmAddress({ server, serverFile });
    },
    tls: { ...(ca === undefined ? {} : { ca: withUsualAuthorities(ca) }), ...clientCertificate },
    metadata: () => metadata,
    maxBackoffMs: 2_000,
  });
  const call = { timeoutMs: callTimeoutMs };
  const stores = new Map<string, BlobStore>();
  const { method } = Workers;
  return {
    register: (request) => channel.unary(method.register, request, call),
    claim: (request, signal) =>
      channel.unary(method.claim, request, { signal, timeoutMs: claimTimeoutMs }),
    lookAhead: (request) => channel.unary(method.lookAhead, request, call),
    heartbeat: (request) => channel.unary(method.heartbeat, request, call),
    cancellations: (request, signal) =>
      channel.unary(method.cancellations, request, { signal, timeoutMs: cancellationsTimeoutMs }),
    started: (request) => channel.unary(method.started, request, call),
    async release(request) {
      await channel.unary(method.release, request, call);
    },
    finish: (request) => channel.unary(method.finish, request, call),
    appendLog: (request) => channel.unary(method.appendLog, request, call),
    blobs(project) {
      const store = stores.get(project) ?? remoteBlobStore(channel, project);
      stores.set(project, store);
      return store;
    },
    close: () => channel.stop(),
  };
}
