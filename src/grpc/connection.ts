import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from "node:http2";
import { isIP } from "node:net";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { adviceOnTrust } from "./authorities.ts";
import { keepAlive } from "./keep-alive.ts";
import { ourSettings, sessionMemoryMb, widenSession } from "./window-sizes.ts";

export interface ConnectionOptions {
  /** `http://host:port`, or `https://host:port` for TLS. */
  readonly url: string;
  readonly tls?: Pick<SecureClientSessionOptions, "ca" | "cert" | "key">;
  readonly keepAliveMs?: number;
  readonly connectTimeoutMs?: number;
  /** The wait after the first failure to connect; it doubles up to `maxBackoffMs`. */
  readonly minBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

/** Returns the delay after this number of consecutive failures; `chance` in [0, 1) spreads clients out. */
export function backoffMs(failures: number, min: number, max: number, chance: number): number {
  const full = Math.min(max, min * 2 ** Math.min(failures - 1, 30));
  return full * (0.8 + 0.4 * chance);
}

/**
 * One HTTP/2 session to one server, made when first needed and again when lost.
 *
 * After a GOAWAY the old session finishes its calls while new calls get a new one.
 */
export class Connection implements Service {
  readonly #options: ConnectionOptions;
  readonly #sessions = new Set<ClientHttp2Session>();
  #current: ClientHttp2Session | undefined;
  #connecting: Promise<ClientHttp2Session> | undefined;
  #failures = 0;
  #notBefore = 0;
  #lastFault: Fault | undefined;
  #stopped = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Returns when a failed connection may be retried; a past time means now. */
  get notBefore(): Date {
    return new Date(this.#notBefore);
  }

  /** Returns a session for a new call. Throws `unavailable` when none is available now. */
  async session(): Promise<ClientHttp2Session> {
    if (this.#stopped) throw new Fault("cancelled", "the channel is closed");
    const current = this.#current;
    if (current !== undefined && !current.closed && !current.destroyed) return current;
    if (this.#connecting === undefined && Date.now() < this.#notBefore) throw this.#unreachable();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  /** Waits for running calls, then closes; after `graceMs` it ends the remaining ones. */
  async stop(graceMs = 0): Promise<void> {
    this.#stopped = true;
    const closed = [...this.#sessions].map(
      (session) => new Promise<void>((resolve) => session.once("close", () => resolve())),
    );
    if (graceMs > 0) for (const session of this.#sessions) session.close();
    const end = () => {
      for (const session of this.#sessions) session.destroy();
    };
    const grace = graceMs > 0 ? setTimeout(end, graceMs) : undefined;
    if (grace === undefined) end();
    await Promise.all(closed);
    clearTimeout(grace);
  }

  async #connect(): Promise<ClientHttp2Session> {
    const { url, tls, keepAliveMs = 30_000, connectTimeoutMs = 20_000 } = this.#options;
    const session = connect(url, {
      settings: ourSettings,
      maxSessionMemory: sessionMemoryMb,
      ...(url.startsWith("https:") ? { createConnection: () => connectTls(url, tls) } : {}),
    });
    this.#sessions.add(session);
    session.on("error", (error) => {
      const why = adviceOnTrust((error as NodeJS.ErrnoException).code) ?? messageOf(error);
      this.#lastFault = new Fault("unavailable", why, { cause: error });
    });
    session.once("close", () => {
      this.#sessions.delete(session);
      this.#forget(session);
    });
    session.once("goaway", () => this.#forget(session));
    await connected(session, connectTimeoutMs);
    if (session.destroyed) {
      this.#failed();
      throw this.#unreachable();
    }
    this.#failures = 0;
    this.#lastFault = undefined;
    widenSession(session);
    keepAlive(session, keepAliveMs, 20_000);
    this.#current = session;
    return session;
  }

  #forget(session: ClientHttp2Session): void {
    if (this.#current === session) this.#current = undefined;
  }

  #failed(): void {
    const { minBackoffMs = 100, maxBackoffMs = 10_000 } = this.#options;
    this.#failures++;
    this.#notBefore =
      Date.now() + backoffMs(this.#failures, minBackoffMs, maxBackoffMs, Math.random());
  }

  #unreachable(): Fault {
    const why = this.#lastFault?.message ?? "the connection was closed";
    return new Fault("unavailable", `${this.#options.url} cannot be reached: ${why}`, {
      cause: this.#lastFault,
    });
  }
}

/** Connects like Node's HTTP/2, but without an IP address as the server name, about which Node warns. */
function connectTls(url: string, tls: ConnectionOptions["tls"]): TLSSocket {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return connectSocket({
    host,
    port: port === "" ? 443 : Number(port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ["h2"],
    ...tls,
  });
}

/**
 * Resolves once the session can be used, or is destroyed.
 *
 * Not at 'connect' but at the server's first SETTINGS: until then Node allows 100 streams, and a server of another
 * protocol has not been noticed.
 */
function connected(session: ClientHttp2Session, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => session.destroy(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const done = () => {
      clearTimeout(timer);
      session.off("remoteSettings", done);
      session.off("close", done);
      resolve();
    };
    session.once("remoteSettings", done);
    session.once("close", done);
  });
}
