import { isLoopbackAddress, isPrivateAddress } from "#outgoing/special-address.ts";

/**
 * Where the farm may send notifications: prefixes of URLs, from the server's configuration.
 *
 * Any commit can contain definitions. Without this limit, everyone with push access could make the farm send requests
 * to every address that its machine reaches.
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

  /**
   * Returns whether a host may have this address. Private addresses only if they are listed as addresses, not by name.
   */
  allowsAddress(address: string): boolean {
    if (!isPrivateAddress(address)) return true;
    return this.#prefixes.some(({ hostname }) => {
      const host = hostname.replace(/^\[|\]$/g, "");
      return host === address || (host === "localhost" && isLoopbackAddress(address));
    });
  }
}

function isWithin(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}
