import { type Grant, type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { WaitingCommand } from "../command.store.ts";
import type { ForgePermission } from "../forge.ts";
import type { ForgePolicy } from "../forge-policy.ts";
import { suffices } from "../forge-principal.ts";
import type { KnownPull } from "../pull.store.ts";
import { mayMeasure } from "../what-to-make.ts";
import { type Answer, refusal, refusalWithoutReply, replies } from "./answer.ts";
import type { BenchChoice, CommandKind } from "./command.ts";
import { readCommand } from "./read-command.ts";

/** All facts about a command before its execution: current data of the forge and of the farm. */
export interface CommandCircumstances {
  readonly command: Pick<
    WaitingCommand,
    "command" | "edited" | "head" | "headSeenAt" | "createdAt" | "author" | "repository"
  >;
  readonly pull: Pick<
    KnownPull,
    "number" | "state" | "head" | "author" | "isFork" | "approvedHead"
  >;
  /** The author's permission in the repository, from the forge. */
  readonly permission: ForgePermission;
  readonly policy: ForgePolicy;
  /** The author, with the grants for the command; undefined: no principal can have that name. */
  readonly by: Principal | undefined;
  /** The author's rights from the farm's own grants, independent of the forge. */
  readonly farmGrants: readonly Grant[];
  readonly name: string;
}

/** The effect of a command. */
export type CommandEffect =
  | { readonly kind: "answer"; readonly answer: Answer }
  | {
      readonly kind: "bench";
      readonly by: Principal;
      readonly suite: string;
      readonly sha: string;
      readonly isToWait: boolean;
      readonly choice: BenchChoice;
    }
  | { readonly kind: "retrigger"; readonly by: Principal; readonly selection: string }
  | { readonly kind: "cancel"; readonly by: Principal }
  | { readonly kind: "approve"; readonly by: Principal; readonly head: string };

/** Decides whether a command is executed, and its effect. Refused authors get fewer details the less they are known. */
export function decideCommand(circumstances: CommandCircumstances): CommandEffect {
  const { command, name, pull } = circumstances;
  const isStranger = !isKnown(circumstances);
  const answer = (given: Answer): CommandEffect => ({
    kind: "answer",
    // Otherwise any user could make the farm write any number of comments.
    answer: isStranger && given.state === "refused" ? refusalWithoutReply : given,
  });
  if (command.edited) return answer(replies.edited);
  const reading = readCommand(command.command);
  if (reading.kind === "wrong") return answer(replies.wrong(reading.problem, name));
  const asked = reading.command;
  if (asked.kind === "help")
    return isStranger ? answer(refusalWithoutReply) : answer(replies.help(name));
  if (pull.state !== "open") {
    return answer(
      refusal(`This pull request is ${pull.state}: the farm does nothing for it any more.`),
    );
  }
  const { by } = circumstances;
  if (by === undefined || !isAllowed(asked.kind, circumstances)) {
    return answer(replies.notAllowed(asked.kind, circumstances.policy.commands[asked.kind]));
  }
  switch (asked.kind) {
    case "retrigger":
      return { kind: "retrigger", by, selection: asked.selection };
    case "cancel":
      return { kind: "cancel", by };
    case "approve":
      return decideApproval(asked.sha, by, circumstances);
    case "bench":
      return decideBench(
        { sha: command.head, isToWait: asked.isToWait, choice: asked.choice },
        by,
        circumstances,
      );
    case "build":
      return decideBench(
        { sha: asked.sha, isToWait: false, choice: asked.choice },
        by,
        circumstances,
      );
  }
}

/** In a public repository, every user may read, and therefore comment. */
function isKnown(circumstances: CommandCircumstances): boolean {
  const { permission, pull, command } = circumstances;
  return (
    suffices(permission, "triage") ||
    pull.author.toLowerCase() === command.author.toLowerCase() ||
    (["bench", "build", "retrigger", "cancel", "approve"] as const).some((kind) =>
      isAllowed(kind, circumstances),
    )
  );
}

function isAllowed(
  kind: Exclude<CommandKind, "help">,
  { by, farmGrants, policy, permission, command, pull }: CommandCircumstances,
): boolean {
  if (by === undefined) return false;
  if (suffices(permission, policy.commands[kind])) return true;
  const granted = { ...by, grants: farmGrants };
  switch (kind) {
    case "bench":
    case "build":
      return mayDo(granted, "benchmark", wholeFarm);
    case "retrigger":
    case "cancel": {
      const branch = `refs/pull/${pull.number}/head`;
      return mayDo(granted, kind, { repository: command.repository, branch });
    }
    case "approve":
      return mayDo(granted, "administer", wholeFarm);
  }
}

/**
 * A head that arrived less than this before an approval was not reviewed: an author who pushes while a maintainer types
 * would get it approved.
 */
const shortestLookMs = 60_000;

function decideApproval(
  sha: string | undefined,
  by: Principal,
  { command, pull, name }: CommandCircumstances,
): CommandEffect {
  const answer = (text: string): CommandEffect => ({ kind: "answer", answer: refusal(text) });
  if (!pull.isFork) {
    return answer(
      "Nothing waits for an approval here: the commits of this pull request are not of a fork.",
    );
  }
  const { head } = pull;
  const approved: CommandEffect = { kind: "approve", by, head };
  const short = head.slice(0, 12);
  const ask = `Look at it; \`@${name} approve ${head}\` approves it.`;
  if (sha === head) return approved;
  if (sha !== undefined && !head.startsWith(sha)) {
    return answer(`\`${sha}\` is not the head any more: it is \`${short}\` now. ${ask}`);
  }
  // Two commits whose ids begin alike can be made in minutes, so a short id proves no more than none.
  if (command.head !== head) {
    return answer(`The head has moved since: it is \`${short}\` now. ${ask}`);
  }
  if (command.headSeenAt !== null) {
    const agoMs = command.createdAt.getTime() - command.headSeenAt.getTime();
    if (agoMs >= shortestLookMs) return approved;
    const seconds = Math.round(agoMs / 1_000);
    return answer(
      `The head came ${seconds} s before this comment, and its author may not have seen it: it is \`${short}\`. ${ask}`,
    );
  }
  return answer(
    `The farm cannot determine whether \`${short}\` was already the head when this comment was written. ${ask}`,
  );
}

function decideBench(
  wanted: { readonly sha: string; readonly isToWait: boolean; readonly choice: BenchChoice },
  by: Principal,
  { pull, policy, name }: CommandCircumstances,
): CommandEffect {
  const answer = (text: string): CommandEffect => ({ kind: "answer", answer: refusal(text) });
  const { suite } = policy;
  if (suite === undefined) {
    return answer(
      "This repository has no measurements: no suite is set for it. An administrator of the farm sets one with `grange forge set`.",
    );
  }
  switch (mayMeasure(pull, policy)) {
    case "never":
      return answer("Commits of forks are not measured here.");
    case "after approval":
      return answer(
        `This pull request comes from a fork: it is measured only after a user with permission has reviewed it and written \`@${name} approve ${pull.head}\`. Then request it again.`,
      );
    case "yes":
      break;
  }
  // An approval is for one commit, and for no other commit of the fork.
  if (pull.isFork && !pull.head.startsWith(wanted.sha)) {
    return answer(
      `Of a fork only the head that was approved is measured: \`${pull.head.slice(0, 12)}\`.`,
    );
  }
  const sha = pull.head.startsWith(wanted.sha) ? pull.head : wanted.sha;
  return { kind: "bench", by, suite, sha, isToWait: wanted.isToWait, choice: wanted.choice };
}
