import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { gitFault } from "#git/git-fault.ts";
import { parseRepositoryAddress, withoutPassword } from "#git/repository-address.ts";
import { type Git, openGit } from "#git/run-git.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import { buildEnvironment } from "./config.ts";

export interface WantedCommit {
  readonly repository: string;
  readonly commit: string;
  /** Commands that run in the checked-out folder, one after the other. */
  readonly build: readonly (readonly string[])[];
  /** The private addresses that Git may contact; any when absent. */
  readonly privateHosts?: PrivateHosts | undefined;
}

const fetchTimeoutMs = 20 * 60_000;
const buildTimeoutMs = 60 * 60_000;

/** Checks a commit out into a folder, without its history, and builds it there. */
export async function checkOutCommit(
  wanted: WantedCommit,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const config = await mkdtemp(`${folder}-`);
  const git = await openGit(config, wanted.privateHosts);
  try {
    await checkOut(git, wanted, folder, signal);
    await rm(join(folder, ".git"), { recursive: true, force: true });
  } finally {
    await git.stop();
    await rm(config, { recursive: true, force: true });
  }
  for (const command of wanted.build) await build(command, wanted, folder, signal);
}

async function checkOut(
  git: Git,
  { repository, commit }: WantedCommit,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const address = parseRepositoryAddress(repository, resolve("."));
  const access = await git.accessTo(address.kind === "local" ? address.path : address.url);
  const options = { directory: folder, signal, timeoutMs: fetchTimeoutMs, access };
  const must = async (args: readonly string[]) => {
    const { exitCode, stderr } = await git.run(args, options);
    if (exitCode !== 0) throw gitFault(repository, stderr);
  };
  await must(["init", "--quiet"]);
  const alone = await git.run(
    ["fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", access.url, commit],
    options,
  );
  // Some servers serve only named branches and tags: then the whole repository is fetched.
  if (alone.exitCode !== 0)
    await must([
      "fetch",
      "--quiet",
      "--end-of-options",
      access.url,
      "+refs/heads/*:refs/remotes/from/*",
      "+refs/tags/*:refs/tags/*",
    ]);
  const { exitCode } = await git.run(["cat-file", "-e", `${commit}^{commit}`], options);
  if (exitCode !== 0)
    throw new Fault(
      "not_found",
      `${withoutPassword(repository)} has no commit ${commit}; push it there`,
    );
  await must(["checkout", "--quiet", "--detach", "--force", commit]);
}

/** How much of the end of a build's output is shown when it fails, in characters. */
const mostSaid = 4_000;

function build(
  [program = "", ...args]: readonly string[],
  { commit }: WantedCommit,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const line = [program, ...args].join(" ");
  const failed = (why: string, cause?: unknown) =>
    new Fault("failed_precondition", `building ${commit.slice(0, 12)}: \`${line}\` ${why}`, {
      cause,
    });
  return new Promise((done, reject) => {
    // In a process group of its own, so that its children end with it.
    const child = spawn(program, args, {
      cwd: folder,
      env: buildEnvironment(),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const hear = (part: Buffer) => {
      output = (output + part.toString()).slice(-mostSaid);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    let ended: Fault | undefined;
    const end = (reason: Fault) => {
      ended ??= reason;
      try {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has already ended.
      }
    };
    const onAbort = () => end(new Fault("cancelled", `building ${commit} was cancelled`));
    const timer = setTimeout(() => end(failed("took more than an hour")), buildTimeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    child.once("error", (cause) => {
      ended ??= failed(`cannot be started: ${messageOf(cause)}`, cause);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      if (ended !== undefined) reject(ended);
      else if (code === 0) done();
      else reject(failed(`ended with ${code}: ${output.trim()}`));
    });
  });
}
