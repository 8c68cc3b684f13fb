import { Socket } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import pg from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { Fault, messageOf } from "#core/fault.ts";

/** An address of PostgreSQL. */
interface Host {
  readonly host: string;
  readonly port: number;
}

const defaultPort = 5432;

/** Scheme, user and password, hosts, and the rest. */
const urlWithHosts = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/** How long a host may take to say whether it accepts writes. */
const answerMs = 5_000;

/**
 * Returns the hosts of a URL such as `postgres://grange@a:5432,b:5432/farm?target_session_attrs=read-write`: those of a
 * primary and its standbys. Empty when it names only one.
 *
 * @throws Fault `invalid_argument` for a host without a valid port, and when standbys are asked for
 */
export function hostsOf(url: string): readonly Host[] {
  const [, , , authority = "", rest = ""] = urlWithHosts.exec(url) ?? [];
  const wanted = /[?&]target_session_attrs=([^&]*)/.exec(rest)?.[1];
  if (wanted !== undefined && wanted !== "read-write" && wanted !== "primary")
    throw new Fault(
      "invalid_argument",
      `GRANGE_DATABASE_URL has target_session_attrs=${wanted}. The farm writes: use read-write, or leave it out`,
    );
  const hosts = authority.split(",");
  return hosts.length < 2 ? [] : hosts.map((host) => hostFrom(host, "GRANGE_DATABASE_URL"));
}

/** Returns what is wrong with the URL of a database; undefined when nothing is. */
export function problemOfDatabaseUrl(url: string): string | undefined {
  try {
    hostsOf(url);
  } catch (reason) {
    return messageOf(reason);
  }
  return URL.canParse(withFirstHost(url))
    ? undefined
    : "GRANGE_DATABASE_URL is not a URL such as postgres://USER@HOST/DATABASE";
}

/** A replica, as a URL of its own. */
interface ReplicaUrl {
  /** For people: host and port. */
  readonly place: string;
  readonly url: string;
}

/**
 * Returns the replicas that a URL such as `postgres://grange@b,c/farm` names, each with the rest of the URL.
 *
 * @throws Fault `invalid_argument` for a host without a valid port
 */
export function replicasOf(url: string): readonly ReplicaUrl[] {
  const [, scheme = "", user = "", authority = "", rest = ""] = urlWithHosts.exec(url) ?? [];
  // Each URL names one server, and the connection finds out whether it is a standby.
  const plain = rest.replace(
    /([?&])target_session_attrs=[^&]*(&|$)/,
    (_, before: string, after: string) => (after === "&" ? before : ""),
  );
  return authority.split(",").map((text) => {
    const { host, port } = hostFrom(text, "GRANGE_DATABASE_READ_URL");
    return { place: `${host}:${port}`, url: `${scheme}${user}${text}${plain}` };
  });
}

/** Returns what is wrong with the URL of the replicas; undefined when nothing is. */
export function problemOfReadUrl(url: string): string | undefined {
  const problem = "GRANGE_DATABASE_READ_URL is not a URL such as postgres://USER@HOST/DATABASE";
  if (!URL.canParse(withFirstHost(url)) || !urlWithHosts.test(url)) return problem;
  try {
    replicasOf(url);
  } catch (reason) {
    return messageOf(reason);
  }
  return undefined;
}

function hostFrom(text: string, setting: string): Host {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port < 1 || port > 65_535)
    throw new Fault(
      "invalid_argument",
      `${setting} has a host that is not HOST or HOST:PORT: ${JSON.stringify(text)}`,
    );
  return { host: decodeURIComponent(host), port };
}

/**
 * Returns where a connection goes.
 *
 * With several hosts, each new connection first finds the one that accepts writes: after a failover that is another
 * one. node-postgres knows only one host, so the choice is made where its socket connects.
 *
 * @param openSocket makes a socket that is not connected
 */
export function connectionTarget(url: string, openSocket?: () => Socket): pg.ClientConfig {
  const hosts = hostsOf(url);
  const [first] = hosts;
  if (first === undefined)
    return { connectionString: url, ...(openSocket === undefined ? {} : { stream: openSocket }) };
  const base = withIdentityOf(hosts, parseIntoClientConfig(withFirstHost(url)));
  const find = findingPrimary(hosts, base);
  return { ...base, stream: () => socketTo(find, openSocket) };
}

function withFirstHost(url: string): string {
  return url.replace(
    urlWithHosts,
    (_, scheme: string, user: string, authority: string, rest: string) =>
      `${scheme}${user}${authority.split(",")[0]}${rest}`,
  );
}

/** With TLS, a certificate is valid for each of the hosts: node-postgres checks it for the first one only. */
function withIdentityOf(hosts: readonly Host[], config: pg.ClientConfig): pg.ClientConfig {
  const { ssl } = config;
  if (ssl === undefined || ssl === false) return config;
  return {
    ...config,
    ssl: {
      ...(ssl === true ? {} : ssl),
      checkServerIdentity: (_: string, certificate: PeerCertificate) => {
        const problems = hosts.map(({ host }) => checkServerIdentity(host, certificate));
        return problems.includes(undefined) ? undefined : problems[0];
      },
    },
  };
}

/** Connects to the primary instead of the address that node-postgres names. */
function socketTo(
  find: () => Promise<Host>,
  openSocket: () => Socket = () => new Socket(),
): Socket {
  const socket = openSocket();
  const connect = socket.connect.bind(socket);
  socket.connect = () => {
    find().then(
      ({ host, port }) => {
        if (!socket.destroyed) connect(port, host);
      },
      (reason: Error) => socket.destroy(reason),
    );
    return socket;
  };
  return socket;
}

/** Returns a function that finds the host that accepts writes; calls at the same time share one search. */
function findingPrimary(hosts: readonly Host[], base: pg.ClientConfig): () => Promise<Host> {
  let searching: Promise<Host> | undefined;
  return () => {
    searching ??= searchPrimary(hosts, base).finally(() => {
      searching = undefined;
    });
    return searching;
  };
}

async function searchPrimary(hosts: readonly Host[], base: pg.ClientConfig): Promise<Host> {
  try {
    return await Promise.any(hosts.map((each) => requireWritable(each, base)));
  } catch (reason) {
    const problems = reason instanceof AggregateError ? reason.errors.map(messageOf) : [];
    // The code makes it a failure that passes, as if nothing listened.
    throw Object.assign(
      new Error(`no host of the database accepts writes: ${problems.join("; ")}`),
      { code: "ECONNREFUSED" },
    );
  }
}

async function requireWritable(where: Host, base: pg.ClientConfig): Promise<Host> {
  const client = new pg.Client({
    ...base,
    ...where,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ isReadOnly: boolean }>(
      `select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"`,
    );
    if (rows[0]?.isReadOnly !== false) throw new Error("a standby");
    return where;
  } catch (reason) {
    throw new Error(`${where.host}:${where.port}: ${messageOf(reason)}`);
  } finally {
    await client.end().catch(() => {});
  }
}
