/**
 * Returns the address of the next page from a header `Link`.
 *
 * Only an address below the API itself is accepted, because the request contains the farm's token.
 */
export function nextPage(link: string | undefined, api: string): string | undefined {
  for (const one of (link ?? "").split(",")) {
    const [, address, attributes] = /^\s*<([^<>]+)>\s*;(.*)$/.exec(one) ?? [];
    if (address === undefined || !/\brel="?next"?/.test(attributes ?? "")) continue;
    if (!URL.canParse(address)) return undefined;
    return new URL(address).href.startsWith(`${api}/`) ? new URL(address).href : undefined;
  }
  return undefined;
}
