import { Fault } from "#core/fault.ts";
import { graphsOfCommit, graphsOfPull } from "../forge-graph.store.ts";
import { approvePull } from "../pull.store.ts";
import { sentenceAsMarkdown } from "../reports/foreign-text.ts";
import { requestsUnderWay } from "../reports/subject.store.ts";
import { tellOf } from "../reports/tell-reports.ts";
import { lookSoon } from "../repository.store.ts";
import { type Answer, refusal } from "./answer.ts";
import type { CommandService } from "./command-service.ts";
import type { CommandEffect } from "./decide-command.ts";

/** The place of a command: a pull request of a watched repository. */
interface CommandPlace {
  readonly repository: string;
  readonly pull: number;
  /** The head of the pull request, just read from the forge. */
  readonly head: string;
  /** The forge's number of the comment with the command. */
  readonly comment: string;
}

/** Applies the effect. Throws the farm's refusals. Repeating it has no further effect. */
export async function applyCommandEffect(
  services: CommandService,
  place: CommandPlace,
  effect: CommandEffect,
): Promise<Answer> {
  switch (effect.kind) {
    case "answer":
      return effect.answer;
    case "bench":
      return bench(services, place, effect);
    case "retrigger":
      return retrigger(services, place, effect);
    case "cancel":
      return cancel(services, place, effect);
    case "approve":
      return approve(services, place, effect);
  }
}

const done: Answer = { state: "done", reaction: "+1", text: undefined };

async function bench(
  { db, clock, service }: CommandService,
  { repository, pull }: CommandPlace,
  { by, suite, sha, isToWait, choice }: CommandEffect & { kind: "bench" },
): Promise<Answer> {
  const { backends, profiles, targets, benchmarks, runs } = choice;
  const { request, outcome, sentence } = await service.requestBenchmark(
    {
      suite,
      artifact: sha,
      kind: "try",
      pr: pull,
      waitForArtifacts: isToWait,
      backends: [...backends],
      profiles: [...profiles],
      targets: [...targets],
      benchmarks: [...benchmarks],
      ...(runs === undefined ? {} : { runs }),
    },
    by,
  );
  await db.transaction((tx) =>
    tellOf(
      tx,
      { repository, kind: "request", subject: request.id, sha, pull, name: "", wasRequested: true },
      clock.now(),
    ),
  );
  return {
    state: "done",
    reaction: outcome === "nothing-missing" ? "+1" : "rocket",
    text: `${sentenceAsMarkdown(sentence)} [The request](${service.url.replace(/\/+$/, "")}/benchmarks/requests/${request.id}).`,
    isUntilReport: true,
  };
}

async function retrigger(
  { db, service }: CommandService,
  { repository, pull, head, comment }: CommandPlace,
  { by, selection }: CommandEffect & { kind: "retrigger" },
): Promise<Answer> {
  const ref = `refs/pull/${pull}/head`;
  const [graph] = await graphsOfCommit(db, { repository, ref, sha: head });
  if (graph === undefined) {
    return refusal(`There is no graph of \`${head.slice(0, 12)}\` that could run again.`);
  }
  const { jobs } = await service.retrigger(graph.id, selection, by, `${repository} ${comment}`);
  return jobs.length > 0
    ? done
    : refusal("The selection matches no job, or no matching job can run again now.");
}

async function cancel(
  { db, service }: CommandService,
  { repository, pull }: CommandPlace,
  { by }: CommandEffect & { kind: "cancel" },
): Promise<Answer> {
  let ended = 0;
  for (const { id } of await graphsOfPull(db, repository, pull)) {
    if ((await service.graph(id))?.state !== "running") continue;
    await service.cancelGraph(id, by);
    ended += 1;
  }
  const requests = await requestsUnderWay(db, repository, pull);
  for (const { id, isShared } of requests) {
    if (!isShared && (await service.cancelBenchmark(id, by))) ended += 1;
  }
  if (requests.some(({ isShared }) => isShared)) {
    return {
      ...done,
      text: "Measurements that another pull request with this head shares continue.",
    };
  }
  return ended > 0 ? done : { ...done, text: "Nothing runs for this pull request." };
}

async function approve(
  { db, clock }: CommandService,
  { repository, pull }: CommandPlace,
  { by, head }: CommandEffect & { kind: "approve" },
): Promise<Answer> {
  const isNoted = await db.transaction(async (tx) => {
    const at = clock.now();
    if (await approvePull(tx, { repository, number: pull, head, by: by.name, at })) return true;
    await lookSoon(tx, repository, at);
    return false;
  });
  if (isNoted) return done;
  // The forge has it, but the farm has not read it yet.
  throw new Fault("aborted", `the farm has not seen ${head} of pull request ${pull} yet`);
}
