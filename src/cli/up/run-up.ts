import { availableParallelism, hostname, totalmem } from "node:os";
import type { GraphState } from "#api/job-state.ts";
import { durationText } from "#core/duration-text.ts";
import { messageOf } from "#core/fault.ts";
import { readAuthorities } from "#grpc/authorities.ts";
import { type ApiClient, apiClient } from "../api/api-client.ts";
import type { Program } from "../command-list.ts";
import { addDemoData } from "../demo/add-demo-data.ts";
import { demoProjectLine, leftOutLine } from "../demo/demo-lines.ts";
import { type Demo, openDemo } from "../demo/open-demo.ts";
import { setCompilerSwitch } from "../demo/set-compiler-switch.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { failedLogLines } from "../progress/failed-log-lines.ts";
import { totalsOf } from "../progress/totals.ts";
import { watchGraph } from "../progress/watch-graph.ts";
import type { Session } from "../session.ts";
import { type Submission, type SubmissionOptions, submissionOf, submit } from "../submission.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { startFarmProcesses } from "./farm-processes.ts";
import { grangeCommand } from "./grange-command.ts";
import { type HeldDataDirectory, holdDataDirectory } from "./hold-data-directory.ts";
import { localWorkers } from "./local-workers.ts";
import { linkToSignIn, ownerTokenIn } from "./owner-token.ts";
import { requireFreePort } from "./port-holder.ts";
import { startLines } from "./start-lines.ts";
import { type StopSignals, stopSignals } from "./stop-signals.ts";
import { dataDirectoryFor, lookAtRepository } from "./where-to-run.ts";

export interface UpOptions extends SubmissionOptions {
  readonly port: number;
  readonly data?: string;
  readonly storeLimit?: string;
  readonly once?: boolean;
  readonly json?: boolean;
  readonly workers?: number;
  /** Shows the demo project instead of a repository of the user. */
  readonly demo?: boolean;
}

/** The purpose for which a farm is started. */
interface Purpose {
  readonly submission: Submission;
  /** Remarks for the user before the farm starts. */
  readonly remarks: readonly string[];
  readonly demo: Demo | undefined;
}

/** Starts a farm, runs one commit on it, and stays up. */
export async function runUp(
  options: UpOptions,
  session: Session,
  program: Program,
): Promise<ExitCode> {
  if (options.demo === true && options.repo !== undefined)
    throw new UsageError(
      "--demo and --repo contradict each other: the demo has its own repository",
    );
  const here = process.cwd();
  // Before anything is written, because a repository that cannot run needs no data directory.
  const own = options.demo === true ? undefined : await ownRepository(options, here);
  const data = await holdDataDirectory(
    await dataDirectoryFor(options.data ?? session.config.dataDir, here),
  );
  try {
    await requireFreePort(options.port);
    const purpose = own ?? (await demoPurpose(options, data.path));
    for (const remark of purpose.remarks) session.terminal.notes.line(remark);
    return await runFarm(options, session, program, purpose, data);
  } finally {
    await data.release();
  }
}

async function ownRepository(options: UpOptions, here: string): Promise<Purpose> {
  const submission = await submissionOf(options, here);
  return { submission, remarks: await lookAtRepository(submission), demo: undefined };
}

async function demoPurpose(options: UpOptions, dataDir: string): Promise<Purpose> {
  const demo = await openDemo(dataDir);
  const { path, commits } = demo.repository;
  const submission = await submissionOf({ ...options, repo: path }, dataDir);
  const leftOut = leftOutLine(demo.tools);
  const remarks = [
    demoProjectLine(path, commits.length),
    ...(leftOut === undefined ? [] : [leftOut]),
    ...(await lookAtRepository(submission)),
  ];
  return { submission, remarks, demo };
}

async function runFarm(
  options: UpOptions,
  { terminal, config }: Session,
  program: Program,
  { submission, demo }: Purpose,
  data: HeldDataDirectory,
): Promise<ExitCode> {
  const { notes, answer } = terminal;
  const started = Date.now();
  let kill = () => {};
  const signals = stopSignals(() => {
    kill();
    // The kernel releases the lock when the process ends.
    process.exit(exitCodes.failed);
  });
  const workers = localWorkers(
    { hostname: hostname(), cores: availableParallelism(), memoryBytes: usableMemory() },
    options.workers,
  );
  // The server is this command's own, so its certificate is trusted, whoever signed it, unless the user configured
  // authorities.
  const ownCertificate = config.ca === undefined ? config.tlsCert : undefined;
  const farm = await startFarmProcesses({
    grange: grangeCommand(program.entry),
    dataDir: data.path,
    logs: data.logs,
    port: options.port,
    storeLimit: options.storeLimit,
    ca: ownCertificate,
    workers,
    onDeath: (name, how, ms, logFile) => {
      const again = `restarting it in ${durationText(ms)}`;
      notes.line(`The ${name} ended (${how}); ${again}. Its log: ${logFile}`);
    },
  });
  kill = () => farm.kill();
  try {
    const readyAt = Date.now();
    data.announce(farm.url);
    for (const line of startLines(farm.startedInMs, workers.length, readyAt - started)) {
      notes.line(line);
    }
    const outlet = options.json === true ? notes : answer;
    outlet.line(`The farm: ${outlet.paint.bold(farm.url)}`);

    const owner = await ownerTokenIn(data.path);
    const token = owner ?? config.token;
    const ca = ownCertificate === undefined ? config.ca : readAuthorities(ownCertificate);
    const api = apiClient(farm.url, { token, ca });
    const link = owner === undefined ? undefined : await linkToSignIn(api);
    if (link !== undefined)
      notes.line(`This link signs one browser in as the owner, once: ${link}`);
    if (demo !== undefined)
      await setCompilerSwitch(api, demo.repository.path, demo.tools.hasCompiler);
    const submitted = await submit(api, submission);
    const graphUrl = new URL(submitted.url, farm.url).href;
    if (demo !== undefined) notes.line(`The newest commit's graph, live: ${graphUrl}`);
    const view = await watchGraph({ api, terminal }, submitted.id, signals.asked, {
      resultOnly: options.once === true,
    });
    const isOver = view.graph.state !== "running";
    let { state } = view.graph;
    if (options.once === true) {
      if (!isOver) state = await cancelLeft(api, submitted.id, notes);
      else for (const line of await failedLogLines(api, view)) notes.line(line);
    }
    if (options.json === true) {
      const seconds = (Date.now() - readyAt) / 1_000;
      answer.line(JSON.stringify({ state, ...totalsOf(view), seconds, url: graphUrl }));
    }
    if (!isOver) return exitCodes.failed;
    if (options.once === true) {
      return state === "succeeded" ? exitCodes.ok : exitCodes.failed;
    }
    if (demo !== undefined) {
      const { version } = program;
      const about = { api, url: farm.url, token, ca, version, path: config.path };
      const demoFarm = { ...demo, ...about, ...farm, stopping: signals.asked };
      // A signal ends the farm at once; the current step then fails, which is not reported.
      await Promise.race([addDemoData(demoFarm, demo, notes), untilRequested(signals)]);
    }
    if (!signals.asked.aborted) notes.line("The farm keeps running. Ctrl-C stops it.");
    await untilRequested(signals);
    return exitCodes.ok;
  } finally {
    if (signals.asked.aborted) notes.line("Stopping …");
    await farm.stop();
    signals.forget();
  }
}

/** A worker confirms the end of its jobs within a second or two. A second Ctrl-C ends the wait. In ms. */
const mostCancelMs = 15_000;

/**
 * Cancels the graph of an interrupted `--once`: nobody comes back for it, and the next run in the same data directory
 * would finish it first. Returns the graph's state.
 */
async function cancelLeft(
  api: ApiClient,
  graph: string,
  notes: Terminal["notes"],
): Promise<GraphState> {
  const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
  const signal = AbortSignal.timeout(mostCancelMs);
  try {
    const cancelled = await api.call(graphEndpoints.cancelGraph, { params: { graph } }, signal);
    let { state } = cancelled;
    // Its running jobs end when their workers have stopped them.
    if (state === "running") {
      for await (const delta of api.followGraph(graph, cancelled.version, signal))
        ({ state } = delta.graph);
    }
    notes.line(
      state === "running"
        ? "The graph is cancelled; its workers did not confirm it in time."
        : `Graph ${state}.`,
    );
    return state;
  } catch (reason) {
    notes.line(
      `The graph could not be cancelled (${messageOf(reason)}); the next run in this data directory continues it.`,
    );
    return "running";
  }
}

/** Returns the memory of the container or the machine; 0 means no limit. */
function usableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

function untilRequested({ asked }: StopSignals): Promise<void> {
  return new Promise((resolve) => {
    if (asked.aborted) resolve();
    // A pending promise does not keep a process running; the children's pipes do.
    asked.addEventListener("abort", () => resolve(), { once: true });
  });
}
