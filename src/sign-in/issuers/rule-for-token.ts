import { matchesPattern } from "#access/matches-pattern.ts";
import type { TrustedIssuer } from "./trusted-issuer.store.ts";

/** The claims that rules are compared with, from a token with a valid signature. */
interface CheckedClaims {
  readonly subject: string;
  readonly audiences: readonly string[];
}

/** Returns the only rule that matches a token, or the reason why there is none. */
export function ruleFor(
  rules: readonly TrustedIssuer[],
  { subject, audiences }: CheckedClaims,
): TrustedIssuer | { readonly why: string } {
  const heard = rules.filter(({ audience }) => audiences.includes(audience));
  if (heard.length === 0) return { why: "it is for another audience (`aud`)" };
  const fitting = heard.filter((rule) => matchesPattern(rule.subject, subject));
  const [first, ...others] = fitting;
  if (first === undefined)
    return { why: "its subject (`sub`) fits no rule of `grange issuer list`" };
  const other = others.find(({ principal }) => principal !== first.principal);
  // If two rules match, the intended one is unknown, and a random choice might grant more rights.
  if (other !== undefined) {
    return {
      why: `it fits two rules that name different principals: ${first.name}, ${other.name}`,
    };
  }
  return first;
}
