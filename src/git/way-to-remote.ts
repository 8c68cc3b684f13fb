import { lookup as lookUp } from "node:dns/promises";
import { isIP } from "node:net";
import { Fault, messageOf } from "#core/fault.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { ownEnvironment } from "./config.ts";
import { parseRepositoryAddress, withoutPassword } from "./repository-address.ts";
import { isMachinesOwn, isPrivateAddress } from "./special-address.ts";

/**
 * Which hosts on private addresses Git may be sent to: their names or addresses, `*` for any characters.
 *
 * Whoever may submit names an address, and the farm goes there: without this, into the network that it
 * stands in. Where a machine's own keys are told is in no pattern but by its address itself.
 */
export type PrivateHosts = readonly string[];

type LookUp = (host: string) => Promise<readonly string[]>;

const everyAddress: LookUp = async (host) =>
  (await lookUp(host, { all: true })).map(({ address }) => address);

/**
 * Settings with which Git goes to an address, and nowhere else. Throws `permission_denied` where it may not go.
 *
 * Over HTTP it is held to the addresses that were looked at here: a name that means another one a moment later
 * leads nowhere, nor does a redirect. Over SSH and Git's own protocol the name is looked at only.
 */
export async function wayToRemote(
  address: string,
  privateHosts: PrivateHosts,
  lookup: LookUp = everyAddress,
  env: NodeJS.ProcessEnv = ownEnvironment,
): Promise<readonly string[]> {
  const parsed = parseRepositoryAddress(address, "/");
  if (parsed.kind === "local") return [];
  const { host, port, protocol } = placeOf(parsed.url);
  const isHttp = protocol === "http:" || protocol === "https:";
  // A proxy goes there itself, and decides itself.
  if (isHttp && hasProxy(env)) return noRedirects;
  const found = await addressesOf(host, lookup);
  const allowed = found.filter((each) => isAllowed(host, each, privateHosts));
  if (found.length > 0 && allowed.length === 0) {
    throw new Fault(
      "permission_denied",
      `${withoutPassword(address)}: ${host} is at ${found[0]}, a private address, and the farm goes to none that ` +
        `its operator has not named; set GRANGE_PRIVATE_HOSTS=${host} to let it`,
    );
  }
  if (!isHttp) return [];
  // An address is looked up nowhere, and what nobody knows leads nowhere.
  if (isIP(withoutBrackets(host)) !== 0 || allowed.length === 0) return noRedirects;
  return [
    ...noRedirects,
    "-c",
    `http.curloptResolve=${host}:${port}:${allowed.map(inBrackets).join(",")}`,
  ];
}

const noRedirects = ["-c", "http.followRedirects=false"];

/** None where nobody knows the name: Git then says so, and SSH may have a name of its own for it. */
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

function isAllowed(host: string, address: string, privateHosts: PrivateHosts): boolean {
  if (!isPrivateAddress(address)) return true;
  if (privateHosts.includes(address)) return true;
  if (isMachinesOwn(address)) return false;
  return privateHosts.some((pattern) => {
    const parts = pattern.toLowerCase().split("*");
    return fitsStars(parts, host.toLowerCase()) || fitsStars(parts, address);
  });
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

/** As curl wants them. */
function inBrackets(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

function hasProxy(env: NodeJS.ProcessEnv): boolean {
  return ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].some((name) =>
    Boolean(env[name]),
  );
}
