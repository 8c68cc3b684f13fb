/**
 * Returns the address by which a caller is counted: that of the connection, or what a reverse proxy says.
 *
 * Only a connection from loopback, where a proxy of this machine listens, is believed: every other client could write any
 * address. Proxies append the address of their own client, so the last one counts. An IPv6 address counts by its network
 * of 64 bits, of which a client usually has all addresses.
 */
export function requesterAddress(
  connection: string | undefined,
  forwardedFor: string | undefined,
): string {
  const own = withoutPrefix(connection ?? "");
  if (own === "") return "unknown";
  const forwarded = forwardedFor?.split(",").at(-1)?.trim() ?? "";
  return networkOf(isLoopback(own) && forwarded !== "" ? withoutPrefix(forwarded) : own);
}

/** IPv4 on a socket for both versions has a prefix. */
function withoutPrefix(address: string): string {
  return address.slice(0, 64).replace(/^::ffff:(?=\d+\.)/i, "");
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

function networkOf(address: string): string {
  if (!address.includes(":") || address === "::1") return address;
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = Math.max(0, 8 - first.length - last.length);
  const groups = tail === undefined ? first : [...first, ...Array(missing).fill("0"), ...last];
  return `${groups.slice(0, 4).join(":")}::/64`;
}
