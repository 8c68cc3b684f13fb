import { allPlaces, type PlacePatterns } from "#core/place-patterns.ts";
import type { Verb } from "#core/verb.ts";
import { matchesPattern } from "./matches-pattern.ts";
import type { Principal } from "./principal.ts";

/** Returns the places where a principal has at least one of the verbs. */
export function placesOf({ grants }: Principal, verbs: readonly Verb[]): PlacePatterns {
  const patterns = grants
    .filter(({ verb }) => verb === "*" || verbs.includes(verb))
    .map(({ repository, branch }) => ({ repository, branch }));
  const everywhere = patterns.some(({ repository, branch }) => isAny(repository) && isAny(branch));
  return everywhere ? allPlaces : { everywhere, patterns };
}

function isAny(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}

/** Returns whether some branch of a repository is among the places. */
export function reachesRepository({ patterns }: PlacePatterns, repository: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern.repository, repository));
}
