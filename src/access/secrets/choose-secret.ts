import { isOfPullRequest, protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import { matchesPattern } from "../matches-pattern.ts";

/** The repository, branch and domain of a run. */
export interface RunPlace {
  readonly repository: string;
  /** Empty for a commit without a branch. */
  readonly branch: string;
  readonly domain: TrustDomain;
}

/** A secret with the place where runs may use it. */
interface GrantedSecret {
  readonly repository: string;
  readonly branch: string;
  readonly users: string | null;
}

/** Why a run does not get the secret that it names, as the end of "the secret X is ...". */
type NotGiven = { readonly refused: string };

/**
 * Returns the secret of a name for a run: the one whose patterns match the place most exactly.
 *
 * The server derives the domain itself. The branch may come from the submitter, whose right to name it was checked when
 * the domain was derived.
 */
export function chooseSecret<S extends GrantedSecret>(
  ofThatName: readonly S[],
  place: RunPlace,
): S | NotGiven {
  const [best] = ofThatName
    .filter(
      ({ repository, branch }) =>
        matchesPattern(repository, place.repository) && matchesPattern(branch, place.branch),
    )
    .toSorted((a, b) => bySaying(b.branch, a.branch) || bySaying(b.repository, a.repository));
  const { repository, branch } = place;
  const where = branch === "" ? `of no branch of ${repository}` : `on ${branch} of ${repository}`;
  if (isOfPullRequest(place.domain))
    return { refused: `never available to a pull request (${where})` };
  if (best === undefined) return { refused: `not available to runs ${where}` };
  const why = whyNotInDomain(best, place.domain);
  return why === undefined ? best : { refused: `${why} (${where})` };
}

/** Returns why the domain alone forbids a secret; checked again when a run is handed to a worker. */
export function whyNotInDomain(
  { users }: Pick<GrantedSecret, "users">,
  domain: TrustDomain,
): string | undefined {
  if (domain === protectedDomain) return undefined;
  if (isOfPullRequest(domain)) return "never available to a pull request";
  const user = domain.slice("user/".length);
  if (users !== null && matchesPattern(users, user)) return undefined;
  return `not available to jobs that ${user} runs in a domain of their own`;
}

/** Orders patterns by the number of literal characters, more first; then alphabetically. */
function bySaying(one: string, other: string): number {
  const letters = (pattern: string) => pattern.replaceAll("*", "").length;
  const exact = (pattern: string) => (pattern.includes("*") ? 0 : 1);
  return (
    exact(one) - exact(other) ||
    letters(one) - letters(other) ||
    (one < other ? 1 : one > other ? -1 : 0)
  );
}
