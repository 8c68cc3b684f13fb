import type { FakeComment } from "../../../../test/support/fake-github/fake-github.ts";
import { maintainer, type PersonComment, type Place } from "./watched-place.ts";

/** The expected state of one repository, from people's actions and its policy. */
export interface Wanted {
  /** `REF SHA`, each of which must have exactly one graph. */
  readonly graphs: ReadonlySet<string>;
  /** Heads of forks that wait for an approval. */
  readonly held: ReadonlySet<string>;
  /** Numbers of pull requests whose head an authorised person approved. */
  readonly approved: ReadonlySet<number>;
  /** Valid approvals that the farm should have accepted, but answered differently. */
  readonly denied: readonly string[];
}

export function wantedOf(place: Place, refs: ReadonlyMap<string, string>, bot: string): Wanted {
  const { repository, policy } = place;
  const graphs = new Set<string>();
  for (const [ref, sha] of refs) {
    const tag = /^refs\/tags\/(.+)$/.exec(ref)?.[1];
    const isTagWanted = tag !== undefined && (policy.tags === undefined || tag.startsWith("v"));
    if (ref === "refs/heads/main" || isTagWanted) graphs.add(`${ref} ${sha}`);
  }
  const held = new Set<string>();
  const approved = new Set<number>();
  const denied: string[] = [];
  for (const [number, past] of place.pulls) {
    const { head, state, isFork } = repository.pullState(number);
    const shown = new Map(repository.comments(number).map((comment) => [comment.id, comment]));
    const words = place.comments.filter(
      (comment) => isFork && comment.pull === number && namesHead(comment, head),
    );
    if (words.some((comment) => isTaken(shown.get(comment.id), bot))) approved.add(number);
    for (const comment of words) {
      const isPlain = comment.fate === "as written" && comment.body.includes(head);
      const isLast = comment.turn > past.changedAt && state === "open";
      if (isPlain && isLast && !isTaken(shown.get(comment.id), bot))
        denied.push(`${repository.slug} ${number}: comment ${comment.id}`);
    }
    if (state !== "open" || policy.pullGraphs === false) continue;
    const rule = isFork ? (policy.forkGraphs ?? "approved") : "always";
    if (rule === "always" || (rule === "approved" && approved.has(number)))
      graphs.add(`refs/pull/${number}/head ${head}`);
    else if (rule === "approved") held.add(head);
  }
  return { graphs, held, approved, denied };
}

/** Whether an authorised person requests to run that commit. */
function namesHead({ word, by, body, head: seen }: PersonComment, head: string): boolean {
  return word === "approve" && by === maintainer && (body.includes(head) || seen === head);
}

function isTaken(comment: FakeComment | undefined, bot: string): boolean {
  return comment?.reactions.some(({ by, content }) => by === bot && content === "+1") ?? false;
}
