/**
 * Returns whether the Host of a request is one of ours.
 *
 * A foreign page can resolve its own name to 127.0.0.1 and then read our responses, because the browser treats them as
 * the page's own origin (DNS rebinding). On loopback, only loopback names and the name that the operator configured for
 * a proxy are accepted. When the server listens on other addresses, names are the operator's responsibility.
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
