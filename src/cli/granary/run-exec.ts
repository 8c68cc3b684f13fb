import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { readableShellWord } from "#core/shell-word.ts";
import { type GranaryPlace, granaryPlace, ownVariables } from "#granary/config.ts";
import type { Answer } from "#granary/protocol/answers.ts";
import { openToolSettings } from "#granary/tools/open-tool-settings.ts";
import type { Outlet } from "../terminal/terminal.ts";
import { awaitWhileAlive } from "./await-while-alive.ts";
import { readExecAnswer } from "./exec-answers.ts";
import { connectToGranary, type GranaryClient } from "./granary-client.ts";
import { runCommand } from "./run-command.ts";
import { duneLine, savedLines } from "./saved-lines.ts";

export interface ExecOptions {
  readonly project?: string;
  readonly targets?: readonly string[];
  readonly data?: string;
  readonly waitForPrefetch?: number;
  readonly prefetch?: boolean;
  readonly sync?: boolean;
  readonly quiet?: boolean;
  readonly replace?: boolean;
  /** False with `--no-start`. */
  readonly start: boolean;
}

/**
 * How long to wait for the granary, in ms. The build must not be delayed much, but a busy machine may answer slowly.
 */
const reachMs = 1_000;
/** The limits for a granary that becomes silent after the request. */
const startWaitLimit = { betweenMs: 250, greetMs: reachMs };
/** At a machine's first build, all its compilers are read once to identify its environment. */
const startBuildMs = 5_000;
/** Longer values are not compiler settings, and all variables together are sent in one line. */
const longestVariable = 10_000;
const mostVariables = 1_000;
const endBuildMs = 10_000;
const syncMs = 24 * 3_600_000;

interface Helped {
  readonly client: GranaryClient;
  readonly socketPath: string;
  readonly build: Extract<Answer, { type: "build" }>;
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Runs a command as a build. When the granary fails, the command still runs, and its exit code is returned. */
export async function runExec(
  words: readonly string[],
  options: ExecOptions,
  notes: Outlet,
  entry: string,
): Promise<number> {
  const say = (line: string) => {
    if (options.quiet !== true) notes.line(line);
  };
  const helped = await help(words, options, say, entry).catch((reason: unknown) => {
    notes.line(`grange: running without a granary: ${messageOf(reason)}`);
    return undefined;
  });
  const { exitCode, trouble } = await runCommand(words, helped?.variables ?? ownVariables());
  if (trouble !== undefined) notes.line(`grange: ${trouble}`);
  if (helped !== undefined) {
    await end(helped, exitCode, options, say).catch((reason: unknown) =>
      notes.line(`grange: the requests of this build may be lost: ${messageOf(reason)}`),
    );
  }
  return exitCode;
}

async function help(
  words: readonly string[],
  options: ExecOptions,
  say: (line: string) => void,
  entry: string,
): Promise<Helped> {
  const place = granaryPlace(ownVariables(), options.data);
  const client = await reach(place, options, say, entry);
  try {
    // The granary calls Git, and knows the compilers' digests, because its caches are filled and those of this process
    // are empty.
    const waitMs = options.waitForPrefetch;
    const asked = client.ask(
      {
        type: "build-started",
        directory: process.cwd(),
        project: options.project,
        targets: options.targets === undefined ? undefined : [...options.targets],
        command: words.map(readableShellWord).join(" ").slice(0, 1_024),
        variables: ownSettings(),
        ...duneOf(words),
        waitMs,
        prefetch: options.prefetch,
      },
      "build",
      startBuildMs + (waitMs ?? 0),
    );
    const build = await awaitWhileAlive(asked, place.socketPath, startWaitLimit);
    const tools = await openToolSettings(
      {
        port: build.port,
        pid: build.pid,
        build: build.id,
        project: build.project,
        environment: build.environment,
        variables: ownVariables(),
        ...(build.settings === undefined ? {} : { extra: build.settings }),
        ...(options.replace === undefined ? {} : { replace: options.replace }),
        program: [process.execPath, entry],
      },
      join(place.dataDirectory, "tools"),
    );
    for (const left of tools.leftAlone) say(`grange: ${left}`);
    const { socketPath } = place;
    return { client, socketPath, build, variables: tools.variables, close: () => tools.close() };
  } catch (reason) {
    client.close();
    throw reason;
  }
}

/** Returns the facts about dune for the granary, if dune may run: it is the only tool that sends no requests. */
function duneOf(words: readonly string[]) {
  const here = process.cwd();
  const mayRun =
    words.some((word) => /(^|\/|\s)dune(\s|$)/.test(word)) ||
    upwardsFrom(here).some((folder) => existsSync(join(folder, "dune-project")));
  if (!mayRun) return {};
  const told = Object.entries(ownVariables()).filter(
    ([name, value]) => value !== undefined && /^(HOME|XDG_\w+|DUNE_\w+|OCAML\w*)$/.test(name),
  );
  return {
    dune: { directory: here, variables: Object.fromEntries(told) as Record<string, string> },
  };
}

function upwardsFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwardsFrom(above)];
}

/** Returns the variables from which the environment is derived. */
function ownSettings(): Record<string, string> {
  const settings = Object.entries(ownVariables()).flatMap(([name, value]): [string, string][] =>
    value === undefined || value.length > longestVariable ? [] : [[name, value]],
  );
  return Object.fromEntries(settings.slice(0, mostVariables));
}

async function reach(
  place: GranaryPlace,
  options: ExecOptions,
  say: (line: string) => void,
  entry: string,
): Promise<GranaryClient> {
  const client = await connectToGranary(place.socketPath, reachMs, readExecAnswer);
  if (typeof client !== "string") return client;
  // A second one could not be started, because one data directory has one granary.
  if (client === "silent") {
    throw new Error(
      `the running granary did not answer in ${reachMs} ms; see \`grange granary status\``,
    );
  }
  if (client === "other-version") throw new Error("the running granary has another version");
  if (!options.start) throw new Error("no granary is running, and --no-start was given");
  const { startDaemon } = await import("./start-daemon.ts");
  const started = await startDaemon(place, entry, [], readExecAnswer);
  say("grange: started a granary for this machine (to stop it: `grange granary stop`)");
  return started;
}

async function end(
  helped: Helped,
  exitCode: number,
  options: ExecOptions,
  say: (line: string) => void,
): Promise<void> {
  try {
    const sync = options.sync === true;
    const ended = await awaitWhileAlive(
      helped.client.ask(
        { type: "build-ended", exitCode, complete: exitCode === 0, sync },
        "ended",
        sync ? syncMs : endBuildMs,
      ),
      helped.socketPath,
    );
    for (const line of savedLines(ended.report)) say(line);
    if (ended.dune !== undefined) say(duneLine(ended.dune));
    if (ended.outbox?.trouble !== undefined)
      say(`grange: not all results were sent: ${ended.outbox.trouble}`);
  } finally {
    helped.client.close();
    await helped.close();
  }
}
