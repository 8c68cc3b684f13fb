import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault, messageOf } from "#core/fault.ts";
import { giveToJobs, jobOwner } from "#machine/job-owner.ts";
import { numberOfThisProcess } from "#machine/process-numbers.ts";
import type { HelperShell } from "../helper-shell.ts";
import { cpusFor } from "../limits/choose-cpus.ts";
import { toolPath } from "../tool-path.ts";
import { bubblewrapSandbox } from "./bubblewrap.ts";
import { hostView, standInFiles } from "./host-view.ts";
import { loopbackProgram } from "./loopback-program.ts";
import { namespacesSandbox } from "./namespaces.ts";
import { noSandbox } from "./no-sandbox.ts";
import type { ProcKind, Sandbox } from "./sandbox.ts";
import { chooseRestriction, type Restriction } from "./system-calls/choose-restriction.ts";
import type { RefusedCall } from "./system-calls/refused-calls.ts";

const run = promisify(execFile);

/** A machine that is busy starts dozens of processes slowly; to give up would leave jobs without a sandbox. */
const longestTryMs = 60_000;

export interface SandboxSettings {
  readonly dataDir: string;
  readonly path: string;
  readonly homeDir: string;
  readonly shownPaths: readonly string[];
  readonly hiddenPaths: readonly string[];
  readonly sandbox: "auto" | Sandbox["kind"];
  /** Whether jobs may be root of the machine, where nothing else can be had. */
  readonly allowRootJobs: boolean;
  /** System calls that jobs may make, though others' jobs may not. */
  readonly allowedCalls: readonly RefusedCall[];
  /** Whether jobs may make user namespaces. */
  readonly allowsNamespaces: boolean;
  /** What a slot gives; absent: all of the machine's. */
  readonly cpus?: number | undefined;
}

export interface ChosenSandbox {
  readonly sandbox: Sandbox;
  /** Its kind, and where its /proc comes from if not its own; for people. */
  readonly name: string;
  /** Why no better one; empty for the best. */
  readonly why: string;
  /** What a job without network has, and what one with network reaches; for people. */
  readonly network: string;
  /** Which system calls jobs may make, for people. */
  readonly systemCalls: string;
  /** As whom jobs run, for people. */
  readonly user: string;
}

/** The tightest sandbox in which a command really runs here. One that was asked for by name must. */
export async function chooseSandbox(
  shell: HelperShell,
  settings: SandboxSettings,
  runDir: string,
): Promise<ChosenSandbox> {
  const refused: string[] = [];
  const restriction = await chooseRestriction(settings, runDir);
  for (const [name, sandbox] of await candidates(settings, restriction, runDir)) {
    if (settings.sandbox !== "auto" && settings.sandbox !== sandbox.kind) continue;
    if (sandbox.kind === "bubblewrap" && numberOfThisProcess() !== process.pid) {
      // It looks its child up by number: a trial succeeds where another process happens to have that.
      refused.push(`${name}: /proc is that of another pid namespace`);
      continue;
    }
    if (sandbox.kind === "none" && jobOwner !== undefined && !settings.allowRootJobs)
      throw rootJobs(refused);
    try {
      const network = await tryOut(shell, sandbox, settings.path, runDir);
      return {
        sandbox,
        name,
        why: refused.join("; "),
        user: userOf(sandbox),
        ...(sandbox.kind === "none"
          ? { network, systemCalls: "not filtered, since there is no sandbox" }
          : {
              network: `${network}; with network, the machine's and its loopback; ${restriction.abstractSockets}`,
              systemCalls: restriction.systemCalls,
            }),
      };
    } catch (reason) {
      const complaint = complaintOf(reason);
      // Another /proc does not help where the program is missing.
      if (refused.at(-1)?.endsWith(complaint) !== true) refused.push(`${name}: ${complaint}`);
    }
  }
  throw new Fault("failed_precondition", `no sandbox works here: ${refused.join("; ")}`);
}

function rootJobs(refused: readonly string[]): Fault {
  const why = refused.length === 0 ? "the sandbox `none` was asked for" : refused.join("; ");
  return new Fault(
    "failed_precondition",
    `this worker runs as root, and so would its jobs: ${why}. Start it as an ordinary user. Whoever trusts ` +
      "all jobs with the whole machine says --allow-root-jobs (GRANGE_ALLOW_ROOT_JOBS=1)",
  );
}

function userOf({ kind }: Sandbox): string {
  if (jobOwner === undefined) return "the worker's own";
  return kind === "none" ? "root" : `${jobOwner.uid}, without rights`;
}

async function candidates(
  settings: SandboxSettings,
  restriction: Restriction,
  runDir: string,
): Promise<[string, Sandbox][]> {
  const etc = join(runDir, "etc");
  const newRoot = join(runDir, "new-root");
  await mkdir(etc, { recursive: true });
  await mkdir(newRoot, { recursive: true });
  const files = standInFiles(etc, settings.cpus === undefined ? undefined : cpusFor(settings.cpus));
  for (const { path, text } of files) await writeFile(path, text);
  const standIns = Object.fromEntries(files.map(({ name, path }) => [name, path]));
  const hiddenPaths = [...settings.hiddenPaths, settings.dataDir];
  const view = [...hostView({ ...settings, hiddenPaths, standIns }), ...restriction.view];
  const loopback = await writeLoopbackProgram(runDir);
  const namespaces = (proc: ProcKind) =>
    namespacesSandbox({ view, newRoot, proc, loopback, restriction });
  return [
    ["bubblewrap", bubblewrapSandbox(view, "own", restriction)],
    ["bubblewrap with the worker's /proc", bubblewrapSandbox(view, "shared", restriction)],
    ["namespaces", namespaces("own")],
    ["namespaces with the worker's /proc", namespaces("shared")],
    ["none", noSandbox],
  ];
}

/** Returns the program's path; undefined where there is none for this architecture. */
async function writeLoopbackProgram(runDir: string): Promise<string | undefined> {
  const program = loopbackProgram(process.arch);
  if (program === undefined) return undefined;
  const path = join(runDir, "loopback-up");
  await writeFile(path, program, { mode: 0o755 });
  return path;
}

/** Runs a command that writes where jobs write, and looks at its network. */
async function tryOut(
  shell: HelperShell,
  sandbox: Sandbox,
  path: string,
  runDir: string,
): Promise<string> {
  const at = (name: string) => join(runDir, "probe", name);
  for (const name of ["root", "temp", "home"]) {
    await mkdir(at(name), { recursive: true });
    giveToJobs(at(name));
  }
  const script =
    '>made && >"$HOME"/made && >/dev/null </dev/null && cat /proc/self/stat >/dev/null && ' +
    "cat /proc/net/dev && { grep -q 127.0.0.1 /proc/net/fib_trie 2>/dev/null && echo loopback || :; }";
  const commandLine = sandbox.commandLine({
    arguments: ["/bin/sh", "-c", script],
    environment: new Map([
      ["PATH", path],
      ["HOME", sandbox.placesOf({ root: at("root"), temp: at("temp"), home: at("home") }).home],
    ]),
    root: at("root"),
    temp: at("temp"),
    home: at("home"),
    workingDirectory: "",
    network: false,
  });
  const [program = "", ...args] = [...shell.enter, ...commandLine];
  const { stdout } = await run(program, args, {
    env: { PATH: toolPath(path) },
    timeout: longestTryMs,
    cwd: "/",
  });
  if (sandbox.kind === "none") return "the machine's, for every job";
  const interfaces = stdout.split("\n").filter((line) => /^\s*[\w.-]+:/.test(line));
  if (interfaces.length !== 1) throw new Error("the network is not cut off");
  const hasLoopback = stdout.includes("\nloopback\n");
  return `none unless a job asks; ${hasLoopback ? "loopback" : "no loopback: install iproute2"}`;
}

function complaintOf(reason: unknown): string {
  const printed = reason instanceof Error && "stderr" in reason ? String(reason.stderr).trim() : "";
  if (/failed to execute bwrap: No such file|bwrap ENOENT/.test(`${printed} ${messageOf(reason)}`))
    return "bwrap is not installed";
  return printed || messageOf(reason).split("\n")[0] || "failed";
}
