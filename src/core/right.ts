import type { Verb } from "./verb.ts";

/**
 * The right that a caller needs before an endpoint or a gRPC method runs.
 *
 * - `none`: every caller may call it; `because` states the reason, for the list of endpoints.
 * - `farm`: one of the verbs, by a grant for the whole farm.
 * - `some`: one of the verbs, by a grant for any repository, branch or pool. The handler checks the grant for the exact
 * place as soon as it knows the place, in the transaction that acts on it.
 */
export type Right =
  | { readonly kind: "none"; readonly because: string }
  | { readonly kind: "farm"; readonly verbs: readonly [Verb, ...Verb[]] }
  | { readonly kind: "some"; readonly verbs: readonly [Verb, ...Verb[]] };

export function noRight(because: string): Right {
  return { kind: "none", because };
}

export function rightOnFarm(...verbs: readonly [Verb, ...Verb[]]): Right {
  return { kind: "farm", verbs };
}

export function rightSomewhere(...verbs: readonly [Verb, ...Verb[]]): Right {
  return { kind: "some", verbs };
}

/** For the documents: "`submit` or `define`", or a dash when none is needed. */
export function describeRight(right: Right): string {
  switch (right.kind) {
    case "none":
      return `none: ${right.because}`;
    case "farm":
      return `${alternatives(right.verbs)} on the farm`;
    case "some":
      return alternatives(right.verbs);
  }
}

function alternatives(verbs: readonly Verb[]): string {
  return verbs.map((verb) => `\`${verb}\``).join(" or ");
}
