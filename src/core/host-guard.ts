/**
 * Whether a request is meant for us.
 *
 * A page elsewhere can point a name of its own at 127.0.0.1 and then read what the
 * browser takes for its own origin (DNS rebinding). On loopback only loopback's
 * names are therefore answered for, and the one that the operator has said a proxy passes on. Where we
 * listen wider, names are the operator's.
 */
export function isOurHost(
  header: string | undefined,
  listening: string,
  published?: string,
): boolean {
  if (!isLoopback(listening)) return true;
  if (header === undefined) return false;
  if (header.toLowerCase() === published) return true;
  const name = header.replace(/:\d+$/, "").toLowerCase();
  return isLoopback(name) || name.endsWith(".localhost");
}

export function isLoopback(name: string): boolean {
  return (
    name === "localhost" || name === "[::1]" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name)
  );
}
