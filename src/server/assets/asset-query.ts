import { createHash } from "node:crypto";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { type Checksum, parseChecksum } from "./checksum.ts";

/** The fields of all requests of the Remote Asset API that name content. */
interface AssetRequest {
  readonly uris: readonly string[];
  readonly qualifiers: readonly { readonly name: string; readonly value: string }[];
}

export type AssetKind = "blob" | "directory";

/** Content that a client names. */
export interface AssetQuery {
  readonly kind: AssetKind;
  readonly uris: readonly [string, ...string[]];
  /** By name, sorted, without headers for the origin. */
  readonly qualifiers: readonly (readonly [name: string, value: string])[];
  readonly checksum: Checksum | undefined;
  /** Returns the headers for the origin of one of the URIs. They may be secrets: they are sent there and never stored. */
  readonly headersFor: (uri: string) => Readonly<Record<string, string>>;
  readonly hasHeaders: boolean;
}

const mostUris = 100;
const longestUri = 4_096;
const mostQualifiers = 200;
const longestName = 256;
const longestValue = 65_536;

const headerForAll = "http_header:";
const headerForOne = /^http_header_url:(\d{1,4}):(.+)$/;
/** The form of Bazel up to 7: JSON with the headers of each URI. */
const headersInJson = "bazel.auth_headers";
const HeadersByUri = z.record(z.string(), z.record(z.string(), z.string()));

/** Headers that describe the connection or the body: ours. */
const notForClients: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Parses what a request names. Throws `invalid_argument` for content that cannot be named so. */
export function assetQueryOf(kind: AssetKind, { uris, qualifiers }: AssetRequest): AssetQuery {
  const [first, ...more] = uris;
  if (first === undefined) throw invalid("a request names at least one URI");
  if (uris.length > mostUris) throw invalid(`a request names at most ${mostUris} URIs`);
  for (const uri of uris) {
    if (uri === "" || uri.length > longestUri || /[\p{Cc}\s]/u.test(uri)) {
      throw invalid(`a URI has 1 to ${longestUri} characters, and no white space`);
    }
  }
  if (qualifiers.length > mostQualifiers) {
    throw invalid(`a request has at most ${mostQualifiers} qualifiers`);
  }
  const named = new Map<string, string>();
  for (const { name, value } of qualifiers) {
    if (name === "" || name.length > longestName || value.length > longestValue) {
      throw invalid(
        `a qualifier has a name of 1 to ${longestName} characters and a value of at most ${longestValue}`,
      );
    }
    if (named.has(name)) throw invalid(`the qualifier ${JSON.stringify(name)} occurs twice`);
    named.set(name, value);
  }
  const headers = headersIn(named, uris);
  const sri = named.get("checksum.sri");
  return {
    kind,
    uris: [first, ...more],
    qualifiers: [...named]
      .filter(([name]) => !isHeader(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    checksum: sri === undefined ? undefined : parseChecksum(sri),
    headersFor: (uri) => Object.fromEntries(headers.get(uri) ?? []),
    hasHeaders: headers.size > 0,
  };
}

/** Qualifiers whose meaning for an origin is known: the content that HTTP returns has them. */
const forOrigins: ReadonlySet<string> = new Set(["checksum.sri", "bazel.canonical_id"]);

/** Throws `invalid_argument` for content that was never pushed and that no download can give. */
export function requireFetchable({ kind, qualifiers }: AssetQuery): void {
  if (kind === "directory") return;
  const [unknown] = qualifiers.map(([name]) => name).filter((name) => !forOrigins.has(name));
  if (unknown === undefined) return;
  throw invalid(
    `${JSON.stringify(unknown)} not supported: nothing was pushed with these qualifiers, and a download knows ${[...forOrigins].join(", ")} and http_header`,
  );
}

/** The key of an entry for one URI. Headers are not part of it: they do not change what a URI names. */
export function assetKey({ kind, qualifiers }: AssetQuery, uri: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([uri, qualifiers]))
    .digest("hex");
  return `${kind}/${hash}`;
}

function isHeader(name: string): boolean {
  return name.startsWith(headerForAll) || headerForOne.test(name) || name === headersInJson;
}

function headersIn(
  named: ReadonlyMap<string, string>,
  uris: readonly string[],
): Map<string, Map<string, string>> {
  const headers = new Map<string, Map<string, string>>();
  const add = (uri: string, name: string, value: string) => {
    const lower = name.toLowerCase();
    if (!/^[a-z0-9-]{1,64}$/.test(lower) || notForClients.has(lower) || /[\r\n\0]/.test(value)) {
      throw invalid(`the header ${JSON.stringify(name.slice(0, 80))} cannot be sent to an origin`);
    }
    const all = headers.get(uri) ?? new Map<string, string>();
    headers.set(uri, all.set(lower, value));
  };
  for (const [name, value] of named) {
    const forOne = headerForOne.exec(name);
    const at = forOne === null ? undefined : uris[Number(forOne[1])];
    if (forOne !== null && at !== undefined) add(at, forOne[2] ?? "", value);
    else if (name.startsWith(headerForAll)) {
      for (const uri of uris) add(uri, name.slice(headerForAll.length), value);
    } else if (name === headersInJson) {
      for (const [uri, each] of Object.entries(authHeaders(value))) {
        if (!uris.includes(uri)) continue;
        for (const [header, text] of Object.entries(each)) add(uri, header, text);
      }
    }
  }
  return headers;
}

function authHeaders(json: string): z.infer<typeof HeadersByUri> {
  try {
    return HeadersByUri.parse(JSON.parse(json));
  } catch {
    // Its value may be a secret: it is not part of the message.
    throw invalid(`the qualifier ${headersInJson} is not JSON with headers by URI`);
  }
}

function invalid(message: string): Fault {
  return new Fault("invalid_argument", message);
}
