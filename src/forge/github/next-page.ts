/**
 * Where the next page is, out of a header `Link`.
 *
 * Only an address below the API itself counts: the request carries our token.
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
