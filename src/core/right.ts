import type { Verb } from "./verb.ts";

/**
 * The right that a caller needs before an endpoint or a gRPC method runs.
 *
 * - `none`: every caller may call it; `because` states the reason, for the list of endpoints.
 * - `farm`: one of the verbs, by a grant for the whole farm.
 * - `some`: one of the verbs, by a grant for any repository, branch or pool. The handler checks the grant for the exact
 *   place as soon as it knows the place, in the transaction that acts on it.
 * - `at`: one of the verbs at the place of the object that the call names. The server derives the place before the
 *   handler runs. For a caller that may neither read the place nor do what the call does, the object does not exist.
 * - `list`: one of the verbs at any place. The handler answers only what lies at places where the caller has the verb.
 */
export type Right =
  | { readonly kind: "none"; readonly because: string }
  | { readonly kind: "farm"; readonly verbs: readonly [Verb, ...Verb[]] }
  | { readonly kind: "some"; readonly verbs: readonly [Verb, ...Verb[]] }
  | { readonly kind: "list"; readonly verbs: readonly [Verb, ...Verb[]] }
  | RightAt;

/** A right at the place of an object. */
interface RightAt {
  readonly kind: "at";
  readonly object: ObjectKind;
  readonly verbs: readonly [Verb, ...Verb[]];
}

/**
 * The kinds of objects with a place, by the parameters of a call that name them: `graph`, `set`, `execution`, `search`
 * and `build` by the path parameter of that name, `repository` too; `project` by the query; `repository or farm` by the
 * query, and the whole farm when it names no repository.
 */
export type ObjectKind =
  | "graph"
  | "set"
  | "execution"
  | "search"
  | "build"
  | "project"
  | "repository"
  | "repository or farm";

export function noRight(because: string): Right {
  return { kind: "none", because };
}

export function rightOnFarm(...verbs: readonly [Verb, ...Verb[]]): Right {
  return { kind: "farm", verbs };
}

export function rightSomewhere(...verbs: readonly [Verb, ...Verb[]]): Right {
  return { kind: "some", verbs };
}

export function rightAt(object: ObjectKind, ...verbs: readonly [Verb, ...Verb[]]): RightAt {
  return { kind: "at", object, verbs };
}

export function rightOnListed(...verbs: readonly [Verb, ...Verb[]]): Right {
  return { kind: "list", verbs };
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
    case "list":
      return `${alternatives(right.verbs)}: lists what you may read`;
    case "at":
      return `${alternatives(right.verbs)} ${nameOfPlace[right.object]}`;
  }
}

function alternatives(verbs: readonly Verb[]): string {
  return verbs.map((verb) => `\`${verb}\``).join(" or ");
}

const nameOfPlace: Readonly<Record<ObjectKind, string>> = {
  graph: "for the graph",
  set: "for a graph of the set",
  execution: "for the execution",
  search: "for the search",
  build: "for the build's project",
  project: "for the project",
  repository: "for the repository",
  "repository or farm": "for the repository, or on the farm",
};
