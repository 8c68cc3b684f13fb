import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";

/** A registry's demand for credentials, from the header WWW-Authenticate. */
type Challenge =
  | { readonly kind: "basic" }
  | { readonly kind: "bearer"; readonly realm: string; readonly service: string | undefined };

/** Parses WWW-Authenticate; undefined for a scheme that is not supported. */
export function parseChallenge(header: string): Challenge | undefined {
  if (/^basic\b/i.test(header)) return { kind: "basic" };
  if (!/^bearer\s/i.test(header)) return undefined;
  const values = new Map(
    [...header.slice(0, 4_096).matchAll(/([a-z_]+)="([^"]*)"/gi)].map(
      ([, name = "", value = ""]) => [name.toLowerCase(), value],
    ),
  );
  const realm = values.get("realm");
  if (realm === undefined || !URL.canParse(realm)) return undefined;
  return { kind: "bearer", realm, service: values.get("service") };
}

const TokenAnswer = z.object({
  token: z.string().max(65_536).optional(),
  access_token: z.string().max(65_536).optional(),
  expires_in: z.number().optional(),
});

interface Credentials {
  readonly user: string;
  readonly password: string;
}

export function basicHeader({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/**
 * Asks the token service of a challenge for the right to do `actions` with a repository. Returns the header and the time in ms
 * for which it is valid.
 *
 * Credentials are sent only to a service with the scheme of the registry or better: a registry with TLS cannot have them
 * sent in clear text.
 */
export async function bearerHeader(
  fetchIt: typeof fetch,
  challenge: Extract<Challenge, { kind: "bearer" }>,
  repository: string,
  origin: string,
  credentials: Credentials | undefined,
  actions: "pull" | "pull,push" = "pull",
): Promise<{ readonly header: string; readonly validMs: number }> {
  const url = new URL(challenge.realm);
  if (origin.startsWith("https:") && url.protocol !== "https:")
    throw new Fault(
      "invalid_argument",
      `${origin} requires a token from ${url.origin}, which does not use TLS`,
    );
  if (challenge.service !== undefined) url.searchParams.set("service", challenge.service);
  url.searchParams.set("scope", `repository:${repository}:${actions}`);
  const headers = credentials === undefined ? {} : { authorization: basicHeader(credentials) };
  const answer = await fetchIt(url, { headers, signal: AbortSignal.timeout(30_000) }).catch(
    (reason: unknown) => {
      throw new Fault("unavailable", `${url.origin} does not give a token: ${messageOf(reason)}`);
    },
  );
  if (!answer.ok) {
    await answer.body?.cancel();
    const code =
      answer.status === 401 || answer.status === 403 ? "invalid_argument" : "unavailable";
    throw new Fault(code, `${url.origin} gives no token for ${repository}: HTTP ${answer.status}`);
  }
  const parsed = TokenAnswer.safeParse(await jsonWithin(answer, 1 << 20));
  const token = parsed.data?.token ?? parsed.data?.access_token;
  if (token === undefined || /[^\x21-\x7e]/.test(token))
    throw new Fault("unavailable", `the answer of ${url.origin} has no token`);
  return { header: `Bearer ${token}`, validMs: (parsed.data?.expires_in ?? 60) * 1_000 };
}

async function jsonWithin(answer: Response, mostBytes: number): Promise<unknown> {
  try {
    return JSON.parse(Buffer.from(await bytesWithin(answer, mostBytes)).toString("utf8"));
  } catch (reason) {
    throw new Fault("unavailable", `${answer.url} is not readable: ${messageOf(reason)}`);
  }
}

/** Reads a body of limited size. Throws `resource_exhausted` for a longer one, without reading it. */
export async function bytesWithin(answer: Response, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > mostBytes) {
      throw new Fault("resource_exhausted", `${answer.url} is longer than ${mostBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
