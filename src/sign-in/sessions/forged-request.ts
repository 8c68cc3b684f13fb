import { timingSafeEqual } from "node:crypto";

/** The facts that a browser sends about the origin of a request. */
export interface RequestOrigin {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: not sent by old browsers, and never set by a page. */
  readonly fetchSite: string | undefined;
  /** The token that only the farm's own pages know. */
  readonly csrf: string | undefined;
}

/** The address under which people reach the farm. */
export interface FarmAddress {
  readonly url: URL;
  /**
   * Whether the address was configured; otherwise it is the listening address, and there may be a proxy in front of it.
   */
  readonly isConfigured: boolean;
}

const reading = new Set(["GET", "HEAD", "OPTIONS"]);

export function changesSomething(method: string): boolean {
  return !reading.has(method.toUpperCase());
}

/**
 * Returns why a request with only a cookie is refused: another site may have sent it. Undefined when it comes from the
 * farm's own pages.
 *
 * Two values are checked: the origin, which old browsers and some proxies report wrongly, and a token that is derived
 * from the cookie and that no other site can read.
 */
export function whyForged(
  request: RequestOrigin,
  farm: FarmAddress,
  expectedCsrf: string,
): string | undefined {
  if (!changesSomething(request.method)) return undefined;
  const { origin, fetchSite, csrf } = request;
  if (fetchSite !== undefined && fetchSite !== "same-origin") {
    return `it comes from another site (${/^[a-z-]{1,20}$/.test(fetchSite) ? fetchSite : "unknown"})`;
  }
  if (origin === undefined) return "it does not say from which page it comes (Origin)";
  if (!isOurs(origin, request.host, farm)) {
    return farm.isConfigured
      ? `it comes from another page than those of ${farm.url.origin}`
      : "it comes from another address than the one that it asks";
  }
  if (csrf === undefined) return "it lacks the CSRF token of the page (X-Grange-Csrf)";
  if (!isSame(csrf, expectedCsrf))
    return "its CSRF token (X-Grange-Csrf) belongs to another session";
  return undefined;
}

function isOurs(origin: string, host: string | undefined, { url, isConfigured }: FarmAddress) {
  if (isConfigured) return origin === url.origin;
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  // A proxy that ends TLS forwards the host name, but not the scheme.
  return /^https?:$/.test(protocol) && from === withoutUsualPort(protocol, host.toLowerCase());
}

function withoutUsualPort(protocol: string, host: string): string {
  return URL.canParse(`${protocol}//${host}`) ? new URL(`${protocol}//${host}`).host : host;
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
