import { insertCommand } from "./command.store.ts";
import { noticeComment } from "./commands/notice-comment.ts";
import type { ForgeComment, ForgePullRequests, PullRequest } from "./forge.ts";
import type { ForgeServices, Held } from "./forge-services.ts";
import { requireHolding } from "./holding.store.ts";
import { findPull, keepPull, livePulls } from "./pull.store.ts";
import { keepRefs } from "./ref.store.ts";
import {
  noteCommentsSince,
  noteDefaultBranch,
  type WatchedRepository,
} from "./repository.store.ts";
import type { Hint } from "./webhooks/hint.ts";
import { headSince, type ToRead } from "./what-to-read.ts";

/** A forge's lists may lag behind; entries that are read twice count once. */
const overlapMs = 10 * 60_000;

/** Reads a repository from a forge, and stores the answers. Other code acts on them. */
export async function readRepository(
  services: ForgeServices,
  held: Held,
  wanted: ToRead,
  hints: readonly Hint[],
): Promise<void> {
  if (wanted.repository) await readDefaultBranch(services, held);
  if (wanted.refs) await readRefs(services, held);
  const { pullRequests } = held.forge;
  // The rest concerns pull requests.
  if (pullRequests === undefined) return;
  await readPulls(services, held, pullRequests, wanted.pulls, hints);
  if (wanted.comments) await readComments(services, held, pullRequests, hints);
}

async function readDefaultBranch({ db }: ForgeServices, held: Held): Promise<void> {
  const { repository, forge, holding } = held;
  const branch = await forge.defaultBranch(repository.slug);
  if (branch === repository.defaultBranch) return;
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    await noteDefaultBranch(tx, repository.name, branch);
  });
}

async function readRefs({ db, clock }: ForgeServices, held: Held): Promise<void> {
  const { repository, forge, holding } = held;
  const seen = await forge.refs(repository.slug);
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    await keepRefs(tx, repository.name, seen, [], clock.now());
  });
}

async function readPulls(
  services: ForgeServices,
  held: Held,
  pullRequests: ForgePullRequests,
  wanted: ToRead["pulls"],
  hints: readonly Hint[],
): Promise<void> {
  const { slug, name, reconciledAt } = held.repository;
  if (wanted === "all") {
    const since = reconciledAt === null ? undefined : new Date(reconciledAt.getTime() - overlapMs);
    const pulls = await pullRequests.list(slug, since);
    await keep(services, held, pulls, hints);
    const listed = new Set(pulls.map(({ number }) => number));
    const open = (await livePulls(services.db, name)).filter(({ state }) => state === "open");
    // Pull requests that are stored as open and not listed were closed or deleted.
    const missing = open.filter(({ number }) => !listed.has(number));
    await readSingly(
      services,
      held,
      pullRequests,
      missing.map(({ number }) => number),
      hints,
    );
    return;
  }
  await readSingly(services, held, pullRequests, wanted, hints);
}

async function readSingly(
  services: ForgeServices,
  held: Held,
  pullRequests: ForgePullRequests,
  numbers: readonly number[],
  hints: readonly Hint[],
): Promise<void> {
  for (const number of numbers) {
    const pull = await pullRequests.find(held.repository.slug, number);
    if (pull !== undefined) await keep(services, held, [pull], hints);
    else await keepAsGone(services, held, number);
  }
}

async function keep(
  { db }: ForgeServices,
  { repository, holding }: Held,
  pulls: readonly PullRequest[],
  hints: readonly Hint[],
): Promise<void> {
  if (pulls.length === 0) return;
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    for (const pull of pulls) {
      const known = await findPull(tx, repository.name, pull.number);
      await keepPull(tx, repository.name, { ...pull, headSince: headSince(pull, known, hints) });
    }
  });
}

/** Forges delete pull requests together with the accounts of their authors. */
async function keepAsGone(
  { db }: ForgeServices,
  { repository, holding }: Held,
  number: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    const known = await findPull(tx, repository.name, number);
    if (known === undefined || known.state !== "open") return;
    const headRepository = known.headRepository ?? undefined;
    await keepPull(tx, repository.name, { ...known, headRepository, state: "closed" });
  });
}

async function readComments(
  services: ForgeServices,
  held: Held,
  pullRequests: ForgePullRequests,
  hints: readonly Hint[],
): Promise<void> {
  const { db } = services;
  const { repository, forge, holding } = held;
  if (forge.comments === undefined) return;
  const since = new Date(repository.commentsSince.getTime() - overlapMs);
  const comments = await forge.comments.list(repository.slug, since);
  for (const comment of comments) {
    if (isFromBefore(comment, repository) || comment.isOurs) continue;
    await keepCommand(services, held, pullRequests, comment, hints);
  }
  const latest = comments.reduce(
    (until, { updatedAt }) => (updatedAt > until ? updatedAt : until),
    repository.commentsSince,
  );
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    await noteCommentsSince(tx, repository.name, latest);
  });
}

/** Comments from before the watching are not for the farm. The forge's clock has whole seconds. */
function isFromBefore({ createdAt }: ForgeComment, { addedAt }: WatchedRepository): boolean {
  return createdAt.getTime() < Math.floor(addedAt.getTime() / 1_000) * 1_000;
}

async function keepCommand(
  services: ForgeServices,
  held: Held,
  pullRequests: ForgePullRequests,
  comment: ForgeComment,
  hints: readonly Hint[],
): Promise<void> {
  const { db, clock } = services;
  const { repository, holding } = held;
  const noticed = noticeComment(comment);
  if (noticed.kind === "nothing") return;
  if ((await findPull(db, repository.name, comment.pull)) === undefined) {
    await readSingly(services, held, pullRequests, [comment.pull], hints);
  }
  await db.transaction(async (tx) => {
    await requireHolding(tx, holding);
    const pull = await findPull(tx, repository.name, comment.pull);
    // It is a comment on an issue.
    if (pull === undefined) return;
    const { head, headSince: since } = pull;
    await insertCommand(
      tx,
      {
        repository: repository.name,
        id: comment.id,
        pull: comment.pull,
        author: comment.author,
        command: noticed.line,
        head,
        // Strictly before: the forge's clock has whole seconds.
        headSeenAt: since < comment.createdAt ? since : null,
        edited: noticed.kind === "edited",
        createdAt: comment.createdAt,
      },
      clock.now(),
    );
  });
}
