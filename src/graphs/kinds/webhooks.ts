import { BlockList, isIP } from "node:net";

/**
 * Where the farm may send notifications: prefixes of URLs, from the server's configuration.
 *
 * Definitions come out of any commit. Without this, whoever may push could make the farm speak to
 * whatever its machine reaches.
 */
export class Webhooks {
  readonly #prefixes: readonly URL[];

  constructor(prefixes: readonly URL[]) {
    this.#prefixes = prefixes;
  }

  allows(written: string): boolean {
    if (!URL.canParse(written)) return false;
    const url = new URL(written);
    return this.#prefixes.some(
      (prefix) => url.origin === prefix.origin && isWithin(url.pathname, prefix.pathname),
    );
  }

  /** Whether a host may have this address. Private ones only when they are listed themselves, and not by a name. */
  allowsAddress(address: string): boolean {
    if (!isPrivateAddress(address)) return true;
    return this.#prefixes.some(({ hostname }) => {
      const host = hostname.replace(/^\[|\]$/g, "");
      return host === address || (host === "localhost" && isLoopback(address));
    });
  }
}

function isWithin(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** RFC 6890: what is no place on the internet. */
const special = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  special.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  special.addSubnet(net, bits, "ipv6");

/** An IPv4 address in IPv6's clothes is judged as what it is. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  return special.check(address, family === 6 ? "ipv6" : "ipv4");
}

function isLoopback(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
