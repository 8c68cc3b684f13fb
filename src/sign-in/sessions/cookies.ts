/** How a browser that is signed in is told apart, given the address by which people reach the farm. */
interface CookieNames {
  /** Of somebody who is signed in. */
  readonly session: string;
  /** Of somebody who was sent to the identity provider. */
  readonly attempt: string;
  /** Of somebody who is back from there and was not let in: why. */
  readonly problem: string;
  readonly isSecure: boolean;
}

/** Far more than our two cookies, and all that others set on the same name. */
const longestHeader = 16_384;

/**
 * Browsers tell cookies apart by host, and not by port: two farms on one machine must not sign each
 * other's people out.
 *
 * With `__Host-`, which needs HTTPS, no other name of the same domain can set them.
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

/** The value of a cookie. Of two of one name neither is chosen: one of them may be planted. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  if (header === undefined || header.length > longestHeader) return undefined;
  const values = header.split(";").flatMap((part) => {
    const [key, ...value] = part.trim().split("=");
    return key === name ? [value.join("=")] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * A `Set-Cookie`. Scripts cannot read it, and other sites' forms do not send it; a link from elsewhere
 * does (Lax), so that people who follow one are still signed in.
 */
export function setCookie(
  name: string,
  value: string,
  { isSecure, maxAgeMs }: { readonly isSecure: boolean; readonly maxAgeMs: number },
): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1_000));
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}
