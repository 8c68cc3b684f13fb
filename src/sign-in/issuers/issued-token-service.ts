import { createHash } from "node:crypto";
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Principal } from "#access/principal.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db } from "#db/db.ts";
import { rightsOf } from "../rights-of.ts";
import { algorithms, type IssuedToken, parseIssuedToken, refusal } from "./issued-token.ts";
import { type FetchFrom, issuerKeys } from "./issuer-keys.ts";
import { ruleFor } from "./rule-for-token.ts";
import { issuersAt, type TrustedIssuer } from "./trusted-issuer.store.ts";

/** The clocks of the issuer and of the farm may differ. */
const toleranceSeconds = 30;
/** A token of a CI system is for one job. A token with a longer life is refused. */
const longestLifeSeconds = 24 * 60 * 60;
/** As long as a result for the farm's own tokens is cached, in ms. */
const callerCacheMs = 2_000;
const mostKept = 1_000;

/** Finds the principals of signed tokens from trusted issuers. */
export interface IssuedTokenService {
  /** Throws `unauthenticated`. */
  identify(token: string): Promise<Principal>;
  /** Called after rights or trusted issuers have changed. */
  forgetAll(): void;
}

interface Believed {
  readonly until: number;
  readonly principal: Principal;
}

export function issuedTokenService(
  db: Db,
  clock: Clock,
  fetchFrom: FetchFrom,
  refused: (why: string) => void = () => {},
): IssuedTokenService {
  const keysOf = issuerKeys(fetchFrom);
  let kept = recentlyUsed<Believed>(mostKept);

  const check = async (token: IssuedToken): Promise<{ rule: TrustedIssuer; exp: number }> => {
    const rules = await issuersAt(db, token.issuer);
    if (rules.length === 0) throw refusal("this farm does not trust its issuer (`iss`)");
    const keys = await keysOf(token.issuer);
    const { payload } = await jwtVerify(token.text, keys, {
      algorithms,
      issuer: token.issuer,
      audience: [...new Set(rules.map(({ audience }) => audience))],
      requiredClaims: ["exp", "iat", "sub"],
      clockTolerance: toleranceSeconds,
      currentDate: clock.now(),
    });
    const { sub = "", exp = 0, iat = 0 } = payload;
    if (exp - iat > longestLifeSeconds) throw refusal("it is valid for more than a day");
    if (iat * 1_000 > clock.now().getTime() + toleranceSeconds * 1_000) {
      throw refusal("it was issued in the future (`iat`)");
    }
    const rule = ruleFor(rules, { subject: sub, audiences: audiencesOf(payload) });
    if ("why" in rule) throw refusal(rule.why);
    return { rule, exp };
  };

  return {
    async identify(text) {
      const key = createHash("sha256").update(text).digest("base64url");
      const now = clock.now().getTime();
      const known = kept.peek(key);
      if (known !== undefined && now < known.until) return known.principal;
      const keeping = kept;
      keeping.forget(key);
      try {
        const { rule, exp } = await check(parseIssuedToken(text));
        const principal = await rightsOf(db, rule.principal);
        keeping.set(key, { until: Math.min(now + callerCacheMs, exp * 1_000), principal });
        return principal;
      } catch (cause) {
        const fault = cause instanceof Fault ? cause : refusal(whyNotGood(cause), cause);
        refused(fault.message);
        throw fault;
      }
    },
    forgetAll() {
      kept = recentlyUsed<Believed>(mostKept);
    },
  };
}

function audiencesOf({ aud }: JWTPayload): string[] {
  return typeof aud === "string" ? [aud] : (aud ?? []);
}

/** Returns the reason in Grange's own words, because the library's message may contain parts of the token. */
function whyNotGood(cause: unknown): string {
  if (cause instanceof errors.JWTExpired) return "it has expired (`exp`)";
  if (cause instanceof errors.JWTClaimValidationFailed) {
    return cause.claim === "aud"
      ? "it is for another audience (`aud`)"
      : `its claim \`${cause.claim}\` is missing or wrong`;
  }
  if (cause instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  if (cause instanceof errors.JWKSNoMatchingKey) return "its issuer has no such key";
  if (cause instanceof errors.JWKSTimeout) return "its issuer does not answer when asked for keys";
  return "it cannot be checked";
}
