/** Longer than any address of a page. It is stored until the user returns from the identity provider. */
const longest = 1_000;

/** Returns the page to open after signing in: always a page of this server, for any requested address. */
export function returnAddress(requestedAddress: string | undefined): string {
  if (requestedAddress === undefined || requestedAddress.length > longest) return "/";
  // Browsers treat `//host` and `/\host` as another site, and drop tabs and line breaks in between.
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(requestedAddress) || requestedAddress.includes("\\"))
    return "/";
  const base = "https://farm.invalid";
  if (!URL.canParse(requestedAddress, base)) return "/";
  const { origin, pathname, search, hash } = new URL(requestedAddress, base);
  if (origin !== base || pathname.startsWith("//")) return "/";
  return pathname.startsWith("/api/") || pathname.startsWith("/auth/")
    ? "/"
    : pathname + search + hash;
}
