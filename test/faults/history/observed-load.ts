import { setTimeout as delay } from "node:timers/promises";
import type { Graph } from "#api/graph.ts";
import type { FarmClient } from "../../support/farm.ts";
import { sampleRepository } from "../../support/sample-repository.ts";
import type { Observation } from "./history.ts";

/** Graphs that a client submits and reads during faults, and all observations of this client. */
export interface ObservedLoad {
  readonly history: Observation[];
  /** The graphs that the farm accepted, in order. */
  readonly graphs: readonly SubmittedLoad[];
  /** Submits a graph until the farm has accepted it: of a new commit, or of one that an earlier graph had. */
  submit(commit?: string): Promise<SubmittedLoad>;
  /** Submits graphs of new commits one after the other. */
  submitMany(count: number): Promise<void>;
  /**
   * Reads a graph until it has ended, and then the results of its jobs.
   *
   * With `mayFail`, only the results of jobs that succeeded. Without, a job that failed breaks a promise, because its
   * log has no end.
   */
  readToItsEnd(id: string, options?: { readonly mayFail?: boolean }): Promise<Graph | undefined>;
  remove(): Promise<void>;
}

interface SubmittedLoad {
  readonly id: string;
  readonly commit: string;
}

export const jobsEach = 5;

/** Each execution has a different token, in its log and in its output. No two jobs are the same action. */
const definitions = `
version: 1
jobs:
${Array.from({ length: jobsEach }, (_, n) => {
  const needs = n === 0 ? "" : `\n    needs: [job-${n - 1}]`;
  return `  job-${n}:
    inputs: [round.txt]${needs}
    commands:
      - token=$(cat /proc/sys/kernel/random/uuid)
      - echo begin $token
      - echo job ${n}
      - sleep 0.2
      - echo $token > token.txt
      - echo end $token
    outputs: [token.txt]`;
}).join("\n")}
`;

export async function observedLoad(farm: FarmClient): Promise<ObservedLoad> {
  const repository = await sampleRepository({ ".grange/farm.yml": definitions });
  const history: Observation[] = [];
  const graphs: SubmittedLoad[] = [];
  let commits = 0;
  const nextCommit = () => repository.commit({ "round.txt": `${++commits}\n` });

  const load: ObservedLoad = {
    history,
    graphs,
    async submit(known) {
      const commit = known ?? (await nextCommit());
      // With an id of the client, like a client that lost its connection and repeats its request.
      const id = crypto.randomUUID();
      const request = { repository: repository.path, rev: commit, id };
      await untilAnswered(() => farm.submit(request));
      history.push({ kind: "submitted", graph: id });
      const submitted = { id, commit };
      graphs.push(submitted);
      return submitted;
    },
    async submitMany(count) {
      for (let n = 0; n < count; n++) await load.submit();
    },
    async readToItsEnd(id, { mayFail = false } = {}) {
      const graph = await readUntilOver(farm, id, history);
      if (graph === undefined) return undefined;
      for (const { name, state } of graph.jobList)
        if (!mayFail || state === "succeeded") history.push(await readResult(farm, id, name));
      return graph;
    },
    remove: () => repository.remove(),
  };
  return load;
}

/** After this time without an answer, or without the end of a graph, the client gives up. */
const timeoutMs = 180_000;

async function readUntilOver(
  farm: FarmClient,
  id: string,
  history: Observation[],
): Promise<Graph | undefined> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const graph = await untilAnswered(() => farm.graph(id));
    history.push(observed(id, graph));
    if (graph.state !== "running") return graph;
    if (Date.now() > until) {
      history.push({ kind: "gave-up", graph: id });
      return undefined;
    }
    await delay(200);
  }
}

function observed(id: string, graph: Graph): Observation {
  const jobs = Object.fromEntries(graph.jobList.map(({ name, state }) => [name, state]));
  return { kind: "read", graph: id, state: graph.state, jobs };
}

/** Reads the log and the output of the last run of a job. */
export async function readResult(farm: FarmClient, id: string, job: string): Promise<Observation> {
  const { runList } = await untilAnswered(() => farm.job(id, job));
  const number = Math.max(1, ...runList.map((run) => run.number));
  const run = `${farm.url}/api/v1/graphs/${id}/jobs/${job}/runs/${number}`;
  const log = await untilAnswered(() => textAt(`${run}/log`));
  const output = await untilAnswered(() => textAt(`${run}/outputs/token.txt`));
  return { kind: "result", graph: id, job, log: log ?? "", output };
}

/** Returns undefined when the farm responds that there is no such text. Throws when it is temporarily unavailable. */
async function textAt(url: string): Promise<string | undefined> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (answer.status >= 500) throw new Error(`${url} was answered ${answer.status}: ${text}`);
  return answer.ok ? text : undefined;
}

/** Repeats a request until there is a response other than "temporarily unavailable". */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await ask();
    } catch (reason) {
      if (Date.now() > until) throw reason;
      await delay(100);
    }
  }
}
