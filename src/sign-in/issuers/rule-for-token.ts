import { matchesPattern } from "#access/matches-pattern.ts";
import type { TrustedIssuer } from "./trusted-issuer.store.ts";

/** The claims that rules are compared with, from a token with a valid signature. */
interface CheckedClaims {
  readonly subject: string;
  readonly audiences: readonly string[];
}

/** The one rule that a token fits, or why there is none. */
export function ruleFor(
  rules: readonly TrustedIssuer[],
  { subject, audiences }: CheckedClaims,
): TrustedIssuer | { readonly why: string } {
  const heard = rules.filter(({ audience }) => audiences.includes(audience));
  if (heard.length === 0) return { why: "it is meant for somebody else (`aud`)" };
  const fitting = heard.filter((rule) => matchesPattern(rule.subject, subject));
  const [first, ...others] = fitting;
  if (first === undefined)
    return { why: "its subject (`sub`) fits no rule of `grange issuer list`" };
  const other = others.find(({ principal }) => principal !== first.principal);
  // Which of two is meant cannot be guessed, and the more powerful one would be chosen by chance.
  if (other !== undefined) {
    return {
      why: `it fits two rules that name different principals: ${first.name}, ${other.name}`,
    };
  }
  return first;
}
