import { machine } from "node:os";
import { Fault, messageOf } from "#core/fault.ts";
import { allowsRootJobs } from "#machine/config.ts";
import { jobOwner } from "#machine/job-owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { fixedEnvironment } from "../fixed-environment.ts";
import { emptyFolders, ownFolders, type RunFolders } from "../folders/run-folders.ts";
import { type Counter, cachegrindCounter, perfCounter } from "./counters.ts";
import { type Meter, metersFor } from "./meters.ts";
import { type EndedProcess, runBounded } from "./run-bounded.ts";
import { bubblewrapSandbox, noSandbox, type Sandbox, searchPath } from "./sandbox.ts";

/** The measuring tools of this machine. */
export interface MeasuringTools {
  readonly sandbox: Sandbox;
  readonly meter: Meter | undefined;
  /** The best first: hardware counters, then the simulator. */
  readonly counters: readonly { readonly counter: Counter; readonly version: string }[];
  /** The prefix of counted commands: with it, their memory has the same addresses each time. */
  readonly fixedLayout: readonly string[];
  /** The missing tools, for people. */
  readonly notes: readonly string[];
}

export type SandboxRequest = "auto" | Sandbox["kind"];

/** Tries the available tools, in the sandbox in which they will be used. */
export async function findTools(
  wanted: SandboxRequest,
  scratch: string,
  signal: AbortSignal,
): Promise<MeasuringTools> {
  const folders = await emptyFolders(scratch, scratch);
  const notes: string[] = [];
  try {
    const sandbox = await findSandbox(wanted, folders, signal, notes);
    const tryOut = async (argv: readonly string[]) => {
      try {
        const ended = await runInside(sandbox, argv, folders, signal);
        return ended.exitCode === 0 ? ended : undefined;
      } catch (reason) {
        if (signal.aborted) throw reason;
        return undefined;
      }
    };
    let meter: Meter | undefined;
    for (const each of metersFor(process.arch)) {
      const ended = await tryOut(each.commandLine(["true"]));
      if (ended === undefined || each.read(ended.report) === undefined) continue;
      meter = each;
      break;
    }
    if (meter === undefined) {
      notes.push("perl, GNU time and bash are missing: CPU time and memory are not measured");
    } else if (meter.name === "bash") {
      notes.push("perl and GNU time are missing: memory is not measured");
    }
    const layout = ["setarch", machine(), "-R"];
    const fixedLayout = (await tryOut([...layout, "true"])) === undefined ? [] : layout;
    if (fixedLayout.length === 0) {
      notes.push(
        "addresses cannot be fixed on this machine (setarch -R): counts vary a little more",
      );
    }
    const counters: { counter: Counter; version: string }[] = [];
    for (const counter of [perfCounter, cachegrindCounter]) {
      const ended = await tryOut(counter.commandLine(["true"], []));
      if (ended === undefined || counter.read(ended.report) === undefined) continue;
      const program = counter.kind === "perf" ? "perf" : "valgrind";
      const version = await tryOut([program, "--version"]);
      counters.push({ counter, version: version?.stdout.trim() || program });
    }
    return { sandbox, meter, counters, fixedLayout, notes };
  } finally {
    await removeTree(`${scratch}/now`);
  }
}

/** Runs a short program of Grange in a sandbox. */
function runInside(
  sandbox: Sandbox,
  argv: readonly string[],
  folders: RunFolders,
  signal: AbortSignal,
): Promise<EndedProcess> {
  return runBounded({
    argv: sandbox.commandLine(argv, folders),
    cwd: sandbox.workingFolder(folders),
    env: fixedEnvironment(sandbox.seen(folders), searchPath()),
    timeoutMs: 30_000,
    signal,
    contained: sandbox.kind !== "none",
    writes: folders.temp,
  });
}

async function findSandbox(
  wanted: SandboxRequest,
  folders: RunFolders,
  signal: AbortSignal,
  notes: string[],
): Promise<Sandbox> {
  const isRoot = jobOwner !== undefined;
  if (wanted === "none") {
    if (isRoot) notes.push("measured programs run without a sandbox, as root");
    return noSandbox;
  }
  let complaint = "";
  for (const proc of ["own", "shared"] as const) {
    const sandbox = bubblewrapSandbox(proc);
    for (const name of ownFolders) sandbox.give(folders[name]);
    try {
      const ended = await runInside(sandbox, ["sh", "-c", ">made && >/tmp/made"], folders, signal);
      if (ended.exitCode === 0) return sandbox;
      complaint ||= ended.stderr.trim();
    } catch (reason) {
      if (signal.aborted) throw reason;
      complaint ||= messageOf(reason);
    }
  }
  if (wanted === "bubblewrap") {
    throw new Fault("failed_precondition", `bubblewrap does not work here: ${complaint}`);
  }
  notes.push(withoutSandbox({ complaint, isRoot, allowsRoot: allowsRootJobs }));
  return noSandbox;
}

/**
 * Returns a note for people when there is no sandbox. Throws `Fault("failed_precondition")` when programs would run as
 * root without an explicit option.
 */
export function withoutSandbox({
  complaint,
  isRoot,
  allowsRoot,
}: {
  /** Why bubblewrap does not work. */
  readonly complaint: string;
  readonly isRoot: boolean;
  readonly allowsRoot: boolean;
}): string {
  const why = `bubblewrap does not work here (${complaint})`;
  if (isRoot && !allowsRoot)
    throw new Fault(
      "failed_precondition",
      `measured programs would run as root: ${why}. Measure as an ordinary user, or install bubblewrap. If you trust ` +
        "all benchmarks with the whole machine, use --no-sandbox",
    );
  return `measured programs run without a sandbox, as ${isRoot ? "root" : "your user"}: ${why}`;
}
