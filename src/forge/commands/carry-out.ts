import { Fault, type FaultCode, messageOf } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { WaitingCommand } from "../command.store.ts";
import type { Forge, ForgePermission, ForgePullRequests, PullRequest } from "../forge.ts";
import { personAtForge, principalNameOf } from "../forge-principal.ts";
import { want } from "../outbox/outbox.store.ts";
import { outboxKey } from "../outbox/outbox-content.ts";
import { findPull, type KnownPull } from "../pull.store.ts";
import { findWatched, type WatchedRepository } from "../repository.store.ts";
import { type Answer, replies } from "./answer.ts";
import { applyCommandEffect } from "./apply-command-effect.ts";
import type { CommandService } from "./command-service.ts";
import { decideCommand } from "./decide-command.ts";
import { defaultName } from "./read-command.ts";

interface CommandServices extends CommandService {
  readonly forgeFor: (repository: WatchedRepository) => Forge;
}

/** Temporary errors: the command is tried again later. All others are an answer. */
const passing: readonly FaultCode[] = ["unavailable", "aborted", "deadline_exceeded", "internal"];

/** After this number of attempts, the author is informed that the command failed. */
const mostAttempts = 12;

/**
 * Executes a command as it was first read, and shows the result on the forge. Throws temporary errors.
 *
 * The author, the author's permission and the pull request are read again from the forge.
 */
export async function carryOutCommand(
  services: CommandServices,
  command: WaitingCommand,
): Promise<{ readonly state: "done" | "refused"; readonly answer: string }> {
  const { db, clock } = services;
  const watched = await findWatched(db, command.repository);
  const known = await findPull(db, command.repository, command.pull);
  if (watched === undefined || known === undefined) {
    return { state: "refused", answer: "it is no longer watched" };
  }
  const answer = await answerTo(services, command, watched, known);
  await db.transaction((tx) => wantAnswer(tx, command, answer, clock.now()));
  return { state: answer.state, answer: answer.text ?? answer.reaction };
}

async function answerTo(
  services: CommandServices,
  command: WaitingCommand,
  watched: WatchedRepository,
  known: KnownPull,
): Promise<Answer> {
  try {
    // No further data is needed for this answer.
    if (command.edited) return replies.edited;
    return await carryOut(services, command, watched, known);
  } catch (reason) {
    const mayPass = !(reason instanceof Fault) || passing.includes(reason.code);
    if (mayPass && command.attempts < mostAttempts) throw reason;
    // An internal error goes to the log only.
    return mayPass ? replies.broken : replies.failed(messageOf(reason));
  }
}

async function carryOut(
  services: CommandServices,
  command: WaitingCommand,
  watched: WatchedRepository,
  known: KnownPull,
): Promise<Answer> {
  const { service, name = defaultName } = services;
  const { repository, author } = command;
  const { policy } = watched;
  const pullRequests = pullRequestsOf(services, watched);
  const { pull, permission } = await askForge(pullRequests, watched, command);
  const principal = principalNameOf(watched.kind, pullRequests.accountOf(author));
  const farmGrants = principal === undefined ? [] : await service.grantsOf(principal);
  const by =
    principal === undefined
      ? undefined
      : personAtForge(principal, repository, permission, policy, farmGrants);
  const effect = decideCommand({
    command,
    pull: { ...pull, approvedHead: known.approvedHead },
    permission,
    policy,
    by,
    farmGrants,
    name,
  });
  const place = { repository, pull: command.pull, head: pull.head, comment: command.id };
  return applyCommandEffect(services, place, effect);
}

function pullRequestsOf(
  { forgeFor }: CommandServices,
  watched: WatchedRepository,
): ForgePullRequests {
  const { pullRequests } = forgeFor(watched);
  if (pullRequests !== undefined) return pullRequests;
  throw new Fault("unimplemented", `the forge of ${watched.name} has no pull requests`);
}

async function askForge(
  pullRequests: ForgePullRequests,
  watched: WatchedRepository,
  { pull: number, author }: WaitingCommand,
): Promise<{ readonly pull: PullRequest; readonly permission: ForgePermission }> {
  const [pull, permission] = await Promise.all([
    pullRequests.find(watched.slug, number),
    pullRequests.permission(watched.slug, author),
  ]);
  if (pull !== undefined) return { pull, permission };
  throw new Fault("not_found", `pull request ${number} no longer exists`);
}

async function wantAnswer(
  tx: Tx,
  { repository, id: comment, pull }: Pick<WaitingCommand, "repository" | "id" | "pull">,
  { reaction, text, isUntilReport = false }: Answer,
  now: Date,
): Promise<void> {
  const reactionKey = outboxKey({ kind: "reaction", comment });
  await want(tx, repository, reactionKey, { kind: "reaction", pull, comment, reaction }, now);
  if (text === undefined) return;
  const replyKey = outboxKey({ kind: "reply", comment });
  await want(tx, repository, replyKey, { kind: "reply", pull, body: text, isUntilReport }, now);
}
