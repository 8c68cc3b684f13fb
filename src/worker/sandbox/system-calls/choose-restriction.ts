import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { jobOwner } from "#machine/job-owner.ts";
import type { Defence } from "../../attacks/attack-list.ts";
import type { ViewStep } from "../../image/image-provider.ts";
import { restrictingProgram } from "./restricting-program.ts";
import { type FilterSettings, seccompFilter } from "./seccomp-filter.ts";

const run = promisify(execFile);

/** The program only has to load a filter, but a busy machine is slow even for that. */
const longestTryMs = 30_000;
/** The pause grows by one millisecond after each attempt: five seconds in total. */
const mostAttempts = 100;

/** The directory of the programs inside the sandbox. */
const programsPlace = "/grange/restrict";

/** Restricts the system calls and sockets of jobs. */
export interface Restriction {
  /** The parts of the host that it needs inside the sandbox. */
  readonly view: readonly ViewStep[];
  /**
   * The prefix of a job's command, which is then an absolute path; empty when no restriction is possible.
   *
   * With `asJobOwner`, root also becomes the user of jobs; only if `changesUser`.
   */
  before(command: { readonly network: boolean; readonly asJobOwner?: boolean }): readonly string[];
  /** Whether the prefix can replace that of `asJobOwner` in `job-owner.ts`. */
  readonly changesUser: boolean;
  /** A command without network that waits on stdin for one of `encodeCommand`; absent when it is impossible. */
  readonly waiting?: (options: { readonly asJobOwner: boolean }) => readonly string[];
  /** What it stops, of the defences of a worker. */
  readonly stops: readonly Extract<
    Defence,
    "system-call filter" | "abstract-socket scope" | "no user namespaces"
  >[];
  /** Describes the refused calls, or the reason why none are refused; for people. */
  readonly systemCalls: string;
  /** Whether a job with the machine's network can connect to abstract Unix sockets of the machine; for people. */
  readonly abstractSockets: string;
}

/**
 * Writes the programs that restrict jobs, and tries them on this machine.
 *
 * Throws `Fault("failed_precondition")` when `settings` denies a call that cannot be denied here.
 */
export async function chooseRestriction(
  settings: FilterSettings,
  runDir: string,
): Promise<Restriction> {
  const filter = seccompFilter(process.arch, settings);
  if (filter === undefined)
    return unrestricted(settings, `Grange has no list of the system calls of ${process.arch}`);
  const directory = join(runDir, "restrict");
  await mkdir(directory, { recursive: true });
  const write = async (name: string, closesAbstractSockets: boolean) => {
    const restrictions = { filter, closesAbstractSockets, owner: jobOwner };
    const program = restrictingProgram(process.arch, restrictions) ?? "";
    await writeFile(join(directory, name), program, { mode: 0o755 });
  };
  await write("plain", false);
  await write("with-network", true);
  const failure = await failureOf(join(directory, "plain"));
  if (failure !== undefined) return unrestricted(settings, failure);
  // Landlock is in Linux since 5.13, and restricts abstract sockets since 6.12.
  const hasScope = (await failureOf(join(directory, "with-network"))) === undefined;
  const changesUser =
    jobOwner !== undefined && (await failureOf(join(directory, "plain"), ["-o"])) === undefined;
  return {
    view: [{ kind: "show", path: programsPlace, from: directory }],
    before: ({ network, asJobOwner = false }) => [
      join(programsPlace, network && hasScope ? "with-network" : "plain"),
      ...(asJobOwner ? ["-o"] : []),
    ],
    changesUser,
    waiting: ({ asJobOwner }) => [join(programsPlace, "plain"), asJobOwner ? "-ow" : "-w"],
    stops: [
      "system-call filter",
      ...(hasScope ? (["abstract-socket scope"] as const) : []),
      ...(settings.allowsNamespaces ? [] : (["no user namespaces"] as const)),
    ],
    systemCalls: filteredText(settings),
    abstractSockets: hasScope
      ? "jobs cannot connect to abstract sockets of the machine"
      : "jobs can connect to abstract sockets of the machine: only Linux 6.12 or later with Landlock can prevent this",
  };
}

function filteredText({ allowedCalls, allowsNamespaces }: FilterSettings): string {
  return [
    "filtered",
    ...(allowedCalls.length === 0 ? [] : [`allowed: ${allowedCalls.join(" ")}`]),
    allowsNamespaces ? "jobs may make user namespaces" : "no user namespaces",
  ].join("; ");
}

function unrestricted({ allowsNamespaces }: FilterSettings, why: string): Restriction {
  if (!allowsNamespaces)
    throw new Fault(
      "failed_precondition",
      `jobs cannot be prevented from making user namespaces on this machine (${why}). Start the worker without --no-namespaces`,
    );
  return {
    view: [],
    before: () => [],
    changesUser: false,
    stops: [],
    systemCalls: `not filtered, since ${why}`,
    abstractSockets: "jobs can connect to abstract sockets of the machine",
  };
}

/** Undefined when the program could run a command. */
async function failureOf(
  program: string,
  options: readonly string[] = [],
): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      const command = [...options, "/bin/sh", "-c", ":"];
      await run(program, command, { env: {}, timeout: longestTryMs, cwd: "/" });
      return undefined;
    } catch (reason) {
      // A process that was being started while the file was written keeps it open until its exec.
      const isBusy = (reason as NodeJS.ErrnoException).code === "ETXTBSY";
      if (isBusy && attempt < mostAttempts) await rest(1 + attempt);
      else return messageOf(reason).trim().split("\n").at(-1) ?? "the program failed";
    }
  }
}
