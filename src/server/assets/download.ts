import { Fault, messageOf } from "#core/fault.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { PrivateAddress } from "#outgoing/guarded-fetch.ts";

interface DownloadRequest {
  readonly uri: string;
  /** For the first origin only: a redirect to another one does not get them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the content is compared with a checksum: otherwise a redirect must not leave TLS. */
  readonly isChecked: boolean;
  readonly mostBytes: number;
  readonly timeoutMs: number;
}

export interface DownloadRules {
  /** Connects to allowed addresses only. */
  readonly fetch: typeof fetch;
  /** Patterns of the hosts from which the farm downloads; undefined: all. */
  readonly hosts: readonly string[] | undefined;
}

const mostRedirects = 5;

/** Returns whether a URI is one that the farm can download. */
export function isDownloadable(uri: string): boolean {
  return /^https?:\/\//i.test(uri) && URL.canParse(uri);
}

/**
 * Downloads content. Throws a fault of the origin, or of the rules:
 *
 * - `not_found`: the origin has no such content
 * - `permission_denied`: the host is not allowed, or the origin refuses
 * - `deadline_exceeded`, `resource_exhausted`: too slow, too large
 * - `unavailable`: every other failure of the origin
 */
export async function* download(
  request: DownloadRequest,
  rules: DownloadRules,
): AsyncGenerator<Uint8Array, void, undefined> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  try {
    const answer = await answerOf(request, rules, signal);
    requireSize(Number(answer.headers.get("content-length") ?? 0), request);
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.byteLength;
      requireSize(bytes, request);
      yield chunk;
    }
  } catch (reason) {
    if (reason instanceof Fault) throw reason;
    if (signal.aborted) {
      throw new Fault(
        "deadline_exceeded",
        `${request.uri} did not arrive within ${request.timeoutMs / 1_000} s`,
      );
    }
    const code = reason instanceof PrivateAddress ? "permission_denied" : "unavailable";
    throw new Fault(code, `${request.uri}: ${messageOf(reason)}`, { cause: reason });
  }
}

async function answerOf(
  { uri, headers, isChecked }: DownloadRequest,
  { fetch: fetchAllowed, hosts }: DownloadRules,
  signal: AbortSignal,
): Promise<Response> {
  const first = new URL(uri);
  let url = first;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    requireAllowed(url, hosts);
    const own = url.origin === first.origin ? headers : {};
    const answer = await fetchAllowed(url, { headers: own, redirect: "manual", signal });
    const to = answer.headers.get("location");
    if (answer.status === 200) return answer;
    await answer.body?.cancel();
    if (answer.status < 300 || answer.status > 399 || to === null)
      throw refusedBy(uri, answer.status);
    const next = new URL(to, url);
    if (!isChecked && url.protocol === "https:" && next.protocol !== "https:") {
      throw new Fault(
        "permission_denied",
        `${uri} redirects from TLS to ${next.protocol}//${next.host}: this needs a checksum`,
      );
    }
    url = next;
  }
  throw new Fault("unavailable", `${uri} redirects more than ${mostRedirects} times`);
}

function requireAllowed(url: URL, hosts: readonly string[] | undefined): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Fault("permission_denied", `${url.protocol} is not downloaded, only http and https`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Fault("permission_denied", "an address with a user or a password is not downloaded");
  }
  const host = url.hostname.toLowerCase();
  if (hosts === undefined || hosts.some((each) => fitsStars(each.toLowerCase().split("*"), host))) {
    return;
  }
  throw new Fault(
    "permission_denied",
    `this farm does not download from ${url.hostname}: its operator lists hosts in GRANGE_ASSET_HOSTS`,
  );
}

function refusedBy(uri: string, status: number): Fault {
  const message = `${uri} answered ${status}`;
  if (status === 404 || status === 410) return new Fault("not_found", message);
  if (status === 401 || status === 403) return new Fault("permission_denied", message);
  return new Fault("unavailable", message);
}

function requireSize(bytes: number, { uri, mostBytes }: DownloadRequest): void {
  if (bytes <= mostBytes) return;
  throw new Fault("resource_exhausted", `${uri} has more than ${mostBytes} bytes`);
}
