import type { ForgeKind } from "./forge-kind.ts";

/** The address of a repository that is known to be at a forge of a kind. */
interface KnownAddress {
  readonly kind: string;
  readonly url: string;
}

/**
 * Returns a function that returns the same text for all addresses of one repository, and different ones for different
 * repositories: by the first kind of forge that knows the address as its own. For other addresses, only different
 * endings are ignored.
 */
export function repositoryKeys(
  kinds: readonly ForgeKind[],
  known: readonly KnownAddress[],
): (address: string) => string {
  const keysByKind = kinds.map((each) => ({
    kind: each.kind,
    keyOf: each.repositoryKeys?.(
      known.flatMap(({ kind, url }) => (kind === each.kind ? [url] : [])),
    ),
  }));
  return (address) => {
    for (const { kind, keyOf } of keysByKind) {
      const key = keyOf?.(address);
      if (key !== undefined) return `${kind} ${key}`;
    }
    return `address ${address.replace(/\/+$/, "").replace(/\.git$/, "")}`;
  };
}
