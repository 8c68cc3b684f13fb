import type { BlobStore } from "#cas/blob-store.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Service } from "#core/service.ts";
import { withUsualAuthorities } from "#grpc/authorities.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import type { ClientCertificate } from "#grpc/client-certificate.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";

export interface FarmAddress {
  /** `http://host:port`, or `https://host:port` for TLS. */
  readonly server: string;
  readonly token: string | undefined;
  /** PEM of an authority that is trusted in addition to those of Node. */
  readonly ca: string | undefined;
  /** The granary's certificate under TLS. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** A channel that can be replaced by a new one. */
interface FarmChannel extends Service {
  readonly channel: GrpcChannel;
  blobs(project: string): BlobStore;
  /**
   * Runs a check on this connection and on a new one, and continues with the one on which it passes; throws when it
   * passes on neither.
   *
   * A connection whose other end vanished silently (a suspended laptop, a changed network) looks alive until its
   * keep-alive fails: a farm that is back would seem away for up to 50 s.
   */
  renewedBy(check: (channel: GrpcChannel) => Promise<void>): Promise<void>;
}

/**
 * A handshake over TLS takes four round trips, each up to 250 ms on the worst lines. No build waits that long for it.
 */
const connectTimeoutMs = 2_000;

const mostProjects = 100;

export function farmChannel({ server, token, ca, clientCertificate }: FarmAddress): FarmChannel {
  const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const connect = () => {
    const channel = new GrpcChannel({
      url: server,
      tls: { ...(ca === undefined ? {} : { ca: withUsualAuthorities(ca) }), ...clientCertificate },
      metadata: () => metadata,
      connectTimeoutMs,
      // The circuit breaker decides how long to wait.
      maxBackoffMs: 200,
    });
    return { channel, stores: recentlyUsed<BlobStore>(mostProjects) };
  };
  let current = connect();
  let isStopped = false;

  return {
    get channel() {
      return current.channel;
    },
    blobs(project) {
      const { channel, stores } = current;
      // Callers that store them elsewhere rely on their correctness.
      return stores.get(project, () =>
        verifying(remoteBlobStore(channel, project), async () => {}),
      );
    },
    async renewedBy(check) {
      const old = current;
      const fresh = connect();
      const [here, there] = await Promise.allSettled([check(old.channel), check(fresh.channel)]);
      // Calls in progress on a working connection continue.
      if (here.status === "fulfilled" || there.status === "rejected" || isStopped) {
        await fresh.channel.stop();
        if (here.status === "rejected") throw here.reason;
        return;
      }
      current = fresh;
      // At once: its calls would wait for answers that do not come.
      await old.channel.stop();
    },
    async stop() {
      isStopped = true;
      await current.channel.stop();
    },
  };
}
