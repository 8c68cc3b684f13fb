import { isIPv6 } from "node:net";
import { UsageError } from "../usage-error.ts";

/** A machine in the notation of ssh. */
export interface SshHost {
  /** As the user typed it, for people. */
  readonly text: string;
  readonly user: string | undefined;
  /** A host name, an address, or an alias of the user's ssh configuration. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Not all legal names, but those that are harmless in every setting into which ssh inserts them, for example
 * `ProxyCommand`.
 */
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/;

/** Parses `[user@]host[:port]`; an IPv6 address must be in brackets. */
export function parseSshHost(text: string): SshHost {
  const match =
    /^(?:(?<user>[^@]*)@)?(?:\[(?<six>[^\]]*)\]|(?<name>[^:[\]]*))(?::(?<port>\d+))?$/.exec(text);
  const { user, six, name, port } = match?.groups ?? {};
  const host = six ?? name ?? "";
  const isHost = six === undefined ? namePattern.test(host) : isIPv6(six);
  const isUser = user === undefined || namePattern.test(user);
  const number = port === undefined ? undefined : Number(port);
  const isPort = number === undefined || (number >= 1 && number <= 65_535);
  if (match === null || !isHost || !isUser || !isPort) {
    throw new UsageError(
      `--ssh takes [user@]host[:port], and not ${JSON.stringify(text)}; a host begins with a letter or a digit`,
    );
  }
  return { text, user, host, port: number };
}

/** Returns the default name of a worker there, which is unique by machine and port. */
export function workerNameFor({ host, port }: SshHost): string {
  const name = host.replaceAll(/[^A-Za-z0-9.-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return port === undefined ? name : `${name}-${port}`;
}

/** Whether an address means the local machine, which is a different one for each machine. */
export function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || /^127(\.\d+){3}$/.test(bare);
}
