/** The cookie names for an address of the farm. */
export interface CookieNames {
  /** The cookie of a signed-in browser. */
  readonly session: string;
  /** The cookie of a browser that was sent to the identity provider. */
  readonly attempt: string;
  /** The cookie with the reason why a sign-in was refused. */
  readonly problem: string;
  readonly isSecure: boolean;
}

/** Far more than the farm's two cookies and all cookies of other services on the same name. */
const longestHeader = 16_384;

/**
 * Browsers separate cookies by host and not by port: two farms on one machine must not sign out each other's users.
 *
 * With `__Host-`, which needs HTTPS, no other host of the same domain can set them.
 */
export function cookieNames(publicUrl: URL): CookieNames {
  const isSecure = publicUrl.protocol === "https:";
  const prefix = isSecure ? "__Host-" : "";
  const port = publicUrl.port === "" ? "" : `-${publicUrl.port}`;
  return {
    session: `${prefix}grange-session${port}`,
    attempt: `${prefix}grange-sign-in${port}`,
    problem: `${prefix}grange-problem${port}`,
    isSecure,
  };
}

/**
 * Returns the value of a cookie. When two have the same name, neither is used, because an attacker may have planted one
 * of them.
 */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  if (header === undefined || header.length > longestHeader) return undefined;
  const values = header.split(";").flatMap((part) => {
    const [key, ...value] = part.trim().split("=");
    return key === name ? [value.join("=")] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Returns a `Set-Cookie` header. Scripts cannot read the cookie, and browsers do not send it with forms of other sites.
 * With links from other sites they do (Lax), so that users who follow one are still signed in.
 */
export function setCookie(
  name: string,
  value: string,
  { isSecure, maxAgeMs }: { readonly isSecure: boolean; readonly maxAgeMs: number },
): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1_000));
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}
