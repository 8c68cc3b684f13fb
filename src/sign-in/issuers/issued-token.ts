import { z } from "zod";
import { Fault } from "#core/fault.ts";

/** Tokens of large CIs have two kilobytes; Node's own limit for all headers is 16 KiB. */
const longestToken = 8_192;

/**
 * Signatures that only the holder of a private key can make. With `none` or HMAC, everybody who knows the public key
 * could sign.
 */
export const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** The parts of a token that are read before verification, to choose the keys. */
export interface IssuedToken {
  readonly text: string;
  readonly issuer: string;
}

const Header = z.object({ alg: z.enum(algorithms), kid: z.string().max(256).optional() });
const Claims = z.object({ iss: z.string().min(1).max(1_000) });

/** With these headers, a token would name its own key or require other features. */
const refusedInHeader = ["jku", "jwk", "x5u", "x5c", "crit", "b64", "enc", "zip", "p2c"];

/**
 * Returns the token of a header if it is a signed token and not one of the farm's own; undefined for all other headers.
 */
export function issuedTokenIn(authorization: string | undefined): string | undefined {
  // Most tokens are the farm's own, and every call is checked here.
  if (authorization === undefined || authorization.startsWith("Bearer grange_")) return undefined;
  const [scheme = "", credentials = "", ...more] = authorization.split(" ", 3);
  if (more.length > 0) return undefined;
  if (/^bearer$/i.test(scheme)) return credentials.startsWith("eyJ") ? credentials : undefined;
  // `ZXlK` would be the beginning of a token without a user name before it; there is always a user name.
  if (!/^basic$/i.test(scheme) || credentials.length > 2 * longestToken) return undefined;
  const text = Buffer.from(credentials, "base64").toString("latin1");
  const password = text.slice(text.indexOf(":") + 1);
  return password.startsWith("eyJ") ? password : undefined;
}

/** Reads the unverified parts of a signed token; throws `unauthenticated` for text that cannot be one. */
export function parseIssuedToken(text: string): IssuedToken {
  if (text.length > longestToken) throw refusal(`it is longer than ${longestToken} characters`);
  const parts = text.split(".");
  if (parts.length !== 3 || !/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text)) {
    throw refusal("it is not three parts of base64url, the last of them a signature");
  }
  const written = jsonOf(parts[0]);
  for (const name of refusedInHeader) {
    if (typeof written === "object" && written !== null && Object.hasOwn(written, name)) {
      throw refusal(`its header has \`${name}\``);
    }
  }
  const header = Header.safeParse(written);
  if (!header.success) {
    throw refusal("its header names no algorithm that is taken (RS, PS, ES, EdDSA)");
  }
  const claims = Claims.safeParse(jsonOf(parts[1]));
  if (!claims.success) throw refusal("it does not say who issued it (`iss`)");
  return { text, issuer: claims.data.iss };
}

function jsonOf(part: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(part ?? "", "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

export function refusal(why: string, cause?: unknown): Fault {
  return new Fault("unauthenticated", `the signed token is refused: ${why}`, { cause });
}
