import { lookup as lookUp } from "node:dns/promises";
import { isIP } from "node:net";
import { Fault, messageOf } from "#core/fault.ts";
import { isAllowedAddress, type PrivateHosts } from "#outgoing/allowed-address.ts";
import { ownEnvironment } from "./config.ts";
import { parseRepositoryAddress, withoutPassword } from "./repository-address.ts";

type LookUp = (host: string) => Promise<readonly string[]>;

const everyAddress: LookUp = async (host) =>
  (await lookUp(host, { all: true })).map(({ address }) => address);

/** How one Git process reaches a repository. */
export interface RemoteAccess {
  /** The address without user name and password: every local user reads a process's arguments. */
  readonly url: string;
  /** Settings of Git as (key, value), for this process alone. */
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** Variables that the settings refer to. Only the same user and root read a process's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Returns how Git reaches an address, and only that address.
 *
 * Over HTTP, Git may use only the IP addresses that were checked here: neither a name that resolves differently a
 * moment later nor a redirect leads elsewhere. Over SSH and Git's own protocol only the name is checked. Throws
 * `permission_denied` for a private address that the operator did not allow.
 */
export async function remoteAccess(
  address: string,
  privateHosts: PrivateHosts,
  lookup: LookUp = everyAddress,
  env: NodeJS.ProcessEnv = ownEnvironment,
): Promise<RemoteAccess> {
  const { url, settings, environment } = withCredentials(address);
  const network = await networkSettings(address, privateHosts, lookup, env);
  return { url, settings: [...network, ...settings], environment };
}

/**
 * Moves a password from an HTTP address into the process's environment.
 *
 * Git asks a credential helper when the server answers 401; the helper prints the two
 * variables. An empty `credential.helper` before it removes those of other configurations.
 */
function withCredentials(address: string): RemoteAccess {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) {
    return { url: address, settings: [], environment: {} };
  }
  const url = new URL(address);
  const { username, password } = url;
  if (username === "" && password === "") return { url: address, settings: [], environment: {} };
  url.username = "";
  url.password = "";
  return {
    url: url.href,
    settings: [
      ["credential.helper", ""],
      [
        "credential.helper",
        `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$GRANGE_GIT_USERNAME" "$GRANGE_GIT_PASSWORD"; }; f`,
      ],
    ],
    environment: {
      GRANGE_GIT_USERNAME: decodeURIComponent(username),
      GRANGE_GIT_PASSWORD: decodeURIComponent(password),
    },
  };
}

type Settings = RemoteAccess["settings"];

async function networkSettings(
  address: string,
  privateHosts: PrivateHosts,
  lookup: LookUp,
  env: NodeJS.ProcessEnv,
): Promise<Settings> {
  const parsed = parseRepositoryAddress(address, "/");
  if (parsed.kind === "local") return [];
  const { host, port, protocol } = placeOf(parsed.url);
  const isHttp = protocol === "http:" || protocol === "https:";
  // A proxy makes the connection itself, with its own rules.
  if (isHttp && hasProxy(env)) return noRedirects;
  const found = await addressesOf(host, lookup);
  const allowed = found.filter((each) => isAllowedAddress(host, each, privateHosts));
  if (found.length > 0 && allowed.length === 0) {
    throw new Fault(
      "permission_denied",
      `${withoutPassword(address)}: ${host} is at ${found[0]}, a private address. The farm contacts only those that ` +
        `its operator has allowed; set GRANGE_PRIVATE_HOSTS=${host} to allow it`,
    );
  }
  if (!isHttp) return [];
  // An IP address needs no lookup, and an unknown name leads nowhere.
  if (isIP(withoutBrackets(host)) !== 0 || allowed.length === 0) return noRedirects;
  const resolved = `${host}:${port}:${allowed.map(inBrackets).join(",")}`;
  return [...noRedirects, ["http.curloptResolve", resolved]];
}

const noRedirects: Settings = [["http.followRedirects", "false"]];

/**
 * Returns the addresses of a host; none for an unknown name: Git then reports it, and SSH may have its own alias for
 * it.
 */
async function addressesOf(host: string, lookup: LookUp): Promise<readonly string[]> {
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) return [bare];
  try {
    return await lookup(bare);
  } catch (cause) {
    if (/ENOTFOUND|ENODATA|EAI_/.test(messageOf(cause))) return [];
    throw Fault.from(cause, `looking for ${bare}`);
  }
}

const ports: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function placeOf(url: string): { host: string; port: string; protocol: string } {
  if (URL.canParse(url) && url.includes("://")) {
    const { hostname, port, protocol } = new URL(url);
    return { host: hostname, port: port || (ports[protocol] ?? ""), protocol };
  }
  const [, host = ""] = /^(?:[^/:@]+@)?(\[[^\]]+\]|[^/:]+):/.exec(url) ?? [];
  return { host, port: "", protocol: "ssh:" };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** Returns an address in curl's notation. */
function inBrackets(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

function hasProxy(env: NodeJS.ProcessEnv): boolean {
  return ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].some((name) =>
    Boolean(env[name]),
  );
}
