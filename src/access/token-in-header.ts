import { Fault } from "#core/fault.ts";
import { isTokenShaped } from "./secret-token.ts";

/** Much longer than a token with a user's name before it. */
export const longestHeader = 512;

/**
 * Returns the token of an `Authorization` header: the bearer, or the password of Basic, whatever the user's name.
 *
 * This also identifies tools that support only user and password in a URL.
 */
export function tokenInHeader(authorization: string): string {
  const token = credentialInHeader(authorization);
  if (token !== undefined && isTokenShaped(token)) return token;
  throw new Fault(
    "unauthenticated",
    "the Authorization header must be `Bearer ` and one token, which begins with grange_ and has 50 characters; " +
      "with `Basic `, the token is the password",
  );
}

/** Returns the bearer, or the password of Basic, of any form; undefined for other headers. */
export function credentialInHeader(authorization: string): string | undefined {
  const [scheme = "", credentials = "", ...more] = authorization.slice(0, longestHeader).split(" ");
  if (more.length > 0 || !/^(bearer|basic)$/i.test(scheme)) return undefined;
  return scheme.toLowerCase() === "basic" ? passwordIn(credentials) : credentials;
}

function passwordIn(credentials: string): string {
  const text = Buffer.from(credentials, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}
