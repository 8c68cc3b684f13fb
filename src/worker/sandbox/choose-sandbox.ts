import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault, messageOf } from "#core/fault.ts";
import { giveToJobs, jobOwner } from "#machine/job-owner.ts";
import type { Defence } from "../attacks/attack-list.ts";
import type { HelperShell } from "../helper-shell.ts";
import { type HostImageSettings, hostImage } from "../image/host-image.ts";
import type { ViewStep } from "../image/image-provider.ts";
import { toolPath } from "../tool-path.ts";
import { openPrivateNetwork, type PrivateNetwork, withPrivateNetwork } from "./private-network.ts";
import type { Sandbox } from "./sandbox.ts";
import { sandboxKinds } from "./sandbox-kinds.ts";
import { chooseRestriction, type Restriction } from "./system-calls/choose-restriction.ts";
import type { RefusedCall } from "./system-calls/refused-calls.ts";

const run = promisify(execFile);

/** A busy machine starts dozens of processes slowly; with a shorter limit its jobs would have no sandbox. */
const longestTryMs = 60_000;

interface SandboxSettings extends HostImageSettings {
  /** The name of a kind, or `auto` for the first kind that works. */
  readonly sandbox: string;
  /** Whether jobs may run as root of the machine when no better user is possible. */
  readonly allowRootJobs: boolean;
  /** System calls that jobs of this worker may make, although they are refused by default. */
  readonly allowedCalls: readonly RefusedCall[];
  /** Whether jobs may make user namespaces. */
  readonly allowsNamespaces: boolean;
  /** Whether jobs with network access get a network namespace of their own. */
  readonly privateNetwork: boolean;
}

interface ChosenSandbox {
  readonly sandbox: Sandbox;
  /** Its kind, and the source of its /proc if that is not its own; for people. */
  readonly name: string;
  /** Why no better sandbox was chosen; empty for the best. */
  readonly why: string;
  /** Describes the network of jobs without and with access; for people. */
  readonly network: string;
  /** Describes the system calls that jobs may make, for people. */
  readonly systemCalls: string;
  /** Describes the user that jobs run as, for people. */
  readonly user: string;
  /** What it stops, of the defences of a worker. */
  readonly stops: readonly Defence[];
  /** What it needs in the root file system of an image. */
  readonly stepsInImages: readonly ViewStep[];
}

/**
 * Chooses the strictest sandbox in which a command runs on this machine. A sandbox that was requested by name must
 * work.
 */
export async function chooseSandbox(
  shell: HelperShell,
  settings: SandboxSettings,
  runDir: string,
): Promise<ChosenSandbox> {
  const refused: string[] = [];
  const restriction = await chooseRestriction(settings, runDir);
  const privateNetwork = settings.privateNetwork
    ? await openPrivateNetwork(shell, settings.path, runDir)
    : undefined;
  const view = [
    ...(await hostImage(settings).rootFileSystem(runDir)),
    ...restriction.view,
    ...(privateNetwork?.view ?? []),
  ];
  for (const kind of sandboxKinds) {
    if (settings.sandbox !== "auto" && settings.sandbox !== kind.kind) continue;
    const unusable = kind.unusable?.();
    for (const { name, sandbox } of await kind.open({ view, restriction, runDir })) {
      if (unusable !== undefined) {
        refused.push(`${name}: ${unusable}`);
        continue;
      }
      if (!sandbox.isolates && jobOwner !== undefined && !settings.allowRootJobs)
        throw rootJobs(refused);
      try {
        const network = await tryOut(shell, sandbox, settings.path, runDir);
        return {
          sandbox:
            privateNetwork === undefined ? sandbox : withPrivateNetwork(sandbox, privateNetwork),
          name,
          why: refused.join("; "),
          user: userOf(sandbox),
          stepsInImages: [...restriction.view, ...nameServersInImages(privateNetwork)],
          stops: stoppedBy(sandbox, restriction, privateNetwork),
          ...(sandbox.isolates
            ? {
                network: `${network}; with network, ${networkText(restriction, privateNetwork)}`,
                systemCalls: restriction.systemCalls,
              }
            : { network, systemCalls: "not filtered, since there is no sandbox" }),
        };
      } catch (reason) {
        const printed = printedBy(reason);
        const complaint = kind.complaint?.(`${printed} ${messageOf(reason)}`);
        const cause = complaint ?? (printed || messageOf(reason).split("\n")[0] || "failed");
        // Another /proc does not help when the program is missing.
        if (refused.at(-1)?.endsWith(cause) !== true) refused.push(`${name}: ${cause}`);
      }
    }
  }
  throw new Fault("failed_precondition", `no sandbox works here: ${refused.join("; ")}`);
}

/** In an image, /etc/resolv.conf is a file, whatever it is on this machine. */
function nameServersInImages(own: PrivateNetwork | undefined): ViewStep[] {
  const path = "/etc/resolv.conf";
  const steps =
    own?.view ?? (existsSync(path) ? [{ kind: "show", path, from: path } as const] : []);
  return steps.flatMap((step): ViewStep[] =>
    step.kind === "show" ? [{ kind: "show", path, from: realpathSync(step.from) }] : [],
  );
}

function rootJobs(refused: readonly string[]): Fault {
  const why = refused.length === 0 ? "the sandbox `none` was configured" : refused.join("; ");
  return new Fault(
    "failed_precondition",
    `this worker runs as root, and so would its jobs: ${why}. Start it as an ordinary user. If you trust ` +
      "all jobs with the whole machine, use --allow-root-jobs (GRANGE_ALLOW_ROOT_JOBS=1)",
  );
}

/** An own network namespace has its own abstract sockets, too. */
function stoppedBy(
  { isolates, ownProc }: Sandbox,
  { stops }: Restriction,
  privateNetwork: PrivateNetwork | undefined,
): Defence[] {
  if (!isolates) return [];
  const byNetwork: Defence[] =
    privateNetwork === undefined ? [] : ["private network", "abstract-socket scope"];
  return ["sandbox", ...(ownProc ? (["own /proc"] as const) : []), ...stops, ...byNetwork];
}

function networkText({ abstractSockets }: Restriction, own: PrivateNetwork | undefined): string {
  return own === undefined
    ? `the machine's and its loopback; ${abstractSockets}`
    : "its own, connected by slirp4netns: jobs cannot reach the loopback and abstract sockets of the machine";
}

function userOf({ isolates }: Sandbox): string {
  if (jobOwner === undefined) return "the worker's own";
  return isolates ? `${jobOwner.uid}, without rights` : "root";
}

/** Runs a command that writes to the directories of jobs, and checks its network. */
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
  if (!sandbox.isolates) return "the machine's, for every job";
  const interfaces = stdout.split("\n").filter((line) => /^\s*[\w.-]+:/.test(line));
  if (interfaces.length !== 1) throw new Error("the network is not cut off");
  const hasLoopback = stdout.includes("\nloopback\n");
  return `none unless a job asks; ${hasLoopback ? "loopback" : "no loopback: install iproute2"}`;
}

function printedBy(reason: unknown): string {
  return reason instanceof Error && "stderr" in reason ? String(reason.stderr).trim() : "";
}
