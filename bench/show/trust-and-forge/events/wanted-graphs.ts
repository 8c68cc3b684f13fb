import type { FakeComment } from "../../../../test/support/fake-github/fake-github.ts";
import { maintainer, type PersonComment, type Place } from "./watched-place.ts";

/** What is to be there for one repository, by what people did and by its policy. */
export interface Wanted {
  /** `REF SHA`, each of which is to have exactly one graph. */
  readonly graphs: ReadonlySet<string>;
  /** Heads of forks that wait for an approval. */
  readonly held: ReadonlySet<string>;
  /** Numbers of pull requests of whose head somebody approved who may. */
  readonly approved: ReadonlySet<number>;
  /** Approvals that nothing excuses the farm from having taken, and that it answered otherwise. */
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

/** Whether it asks to let that commit run, by somebody who may. */
function namesHead({ word, by, body, head: seen }: PersonComment, head: string): boolean {
  return word === "approve" && by === maintainer && (body.includes(head) || seen === head);
}

function isTaken(comment: FakeComment | undefined, bot: string): boolean {
  return comment?.reactions.some(({ by, content }) => by === bot && content === "+1") ?? false;
}
