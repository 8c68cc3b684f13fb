import type { Tx } from "#db/db.ts";
import type { ForgeServices, Held } from "./forge-services.ts";
import { want } from "./outbox/outbox.store.ts";
import { outboxKey } from "./outbox/outbox-content.ts";
import { hasLiveGraph } from "./reports/subject.store.ts";
import { namedGraphOf } from "./what-to-make.ts";

type CheckedPlace = Pick<Held, "forge" | "repository">;

/** Requests a check run that explains why no graph could be made for a commit. */
export async function wantProblemCheck(
  tx: Tx,
  { clock, service }: Pick<ForgeServices, "clock" | "service">,
  held: CheckedPlace,
  of: { readonly sha: string; readonly isFork: boolean },
  problem: string,
): Promise<void> {
  const now = clock.now();
  await wantCheck(tx, held, of, now, {
    detailsUrl: `${service.url}/forge`,
    state: { kind: "completed", startedAt: now, completedAt: now, conclusion: "failure" },
    title: "No graph could be made of this commit",
    summary: asCode(problem),
  });
}

/** Requests a check run that shows that a commit from a fork waits for an approval. */
export async function wantHeldCheck(
  tx: Tx,
  { clock, service }: Pick<ForgeServices, "clock" | "service">,
  held: CheckedPlace,
  head: string,
): Promise<void> {
  const now = clock.now();
  await wantCheck(tx, held, { sha: head, isFork: true }, now, {
    detailsUrl: `${service.url}/forge`,
    state: { kind: "completed", startedAt: now, completedAt: now, conclusion: "action_required" },
    title: "Waits for approval",
    summary:
      "This commit comes from a fork. A user with write access can approve it with the comment `@grange approve`; the approval applies only to this commit.",
  });
}

async function wantCheck(
  tx: Tx,
  { forge, repository: { name, policy } }: CheckedPlace,
  { sha, isFork }: { readonly sha: string; readonly isFork: boolean },
  now: Date,
  shown: {
    readonly detailsUrl: string;
    readonly state: {
      readonly kind: "completed";
      readonly startedAt: Date;
      readonly completedAt: Date;
      readonly conclusion: "failure" | "action_required";
    };
    readonly title: string;
    readonly summary: string;
  },
): Promise<void> {
  if (forge.checks === undefined) return;
  const check = namedGraphOf(policy, isFork) ?? "grange";
  // Another pull request with that head has a graph of this commit, which is shown instead.
  if (await hasLiveGraph(tx, { repository: name, sha, name: check })) return;
  const key = outboxKey({ kind: "check", sha, name: check });
  await want(
    tx,
    name,
    key,
    {
      kind: "check",
      check: { ...shown, sha, name: check, externalId: `grange/${sha}/${check}`, annotations: [] },
    },
    now,
  );
}

/** An indented block: nothing in it is Markdown, and no fence in foreign text can end it. */
function asCode(text: string): string {
  return text
    .slice(0, 20_000)
    .split(/\r?\n/)
    .map((line) => `    ${line}`)
    .join("\n");
}
