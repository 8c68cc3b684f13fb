import type { ChildProcess } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import { gitEnvironment } from "./config.ts";
import { type RemoteAccess, remoteAccess } from "./remote-access.ts";
import { trustedDirectories } from "./trusted-directories.ts";

interface GitOptions {
  /** How to reach the repository that the arguments name by its `url`. */
  readonly access?: RemoteAccess;
  /** The repository, or a directory in it. */
  readonly directory?: string;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** More standard output than this ends the process. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
}

interface GitOutput {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface GitProcess {
  readonly stdout: Readable;
  /** Resolves when the process has ended, with any exit code; rejects when this code ended it. */
  readonly ended: Promise<{ readonly exitCode: number; readonly stderr: string }>;
  kill(reason: Fault): void;
}

/** Runs the program `git`. `stop` ends all of its processes that still run. */
export interface Git extends Service {
  /** Runs to the end. A non-zero exit code is an answer, not a failure. */
  run(args: readonly string[], options?: GitOptions): Promise<GitOutput>;
  /** Starts a process whose output is too large for memory. */
  start(args: readonly string[], options?: GitOptions): GitProcess;
  /** Returns how to reach an address. Throws `permission_denied` if the operator does not allow it. */
  accessTo(address: string): Promise<RemoteAccess>;
}

const defaultTimeoutMs = 60_000;
const defaultMaxOutputBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/**
 * Returns the configuration that makes Git accept the repositories of a call, also those of another user: only objects
 * are read there, and everything that their configuration could run is disabled below. All other repositories stay
 * rejected. Git before 2.38 reads this setting only from a file, and no version passes another one on to the process
 * that reads a local source.
 */
function configTextFor(directories: readonly string[], hasLocalSource: boolean): string {
  const entries = directories.map((directory) => `\tdirectory = ${JSON.stringify(directory)}\n`);
  const safe = entries.length === 0 ? "" : `[safe]\n${entries.join("")}`;
  return safe + (hasLocalSource ? packsWithoutSearch : "");
}

/**
 * For a fetch on one machine, it takes longer to search for deltas among new objects than to copy the objects: 780 ms
 * of processor time for 40 files of 90 kB. Deltas that the source has are used as before.
 */
const packsWithoutSearch = "[pack]\n\twindow = 0\n";

/**
 * Returns a function that gives the configuration file of a call, and writes it at its first use. There is one file for
 * each set of repositories; several processes may share the directory.
 */
function configFiles(configDirectory: string): (options: GitOptions) => string {
  const written = new Set<string>();
  return ({ directory, access }) => {
    const source = access !== undefined && isAbsolute(access.url) ? [access.url] : [];
    const named = [...(directory === undefined ? [] : [directory]), ...source];
    const text = configTextFor(named.flatMap(trustedDirectories), source.length > 0);
    const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
    const file = join(configDirectory, `gitconfig-${name}`);
    if (written.has(file)) return file;
    const temporary = `${file}.${randomUUID()}`;
    writeFileSync(temporary, text);
    renameSync(temporary, file);
    written.add(file);
    return file;
  };
}

/** Settings that a repository's own configuration must not override. */
const settings = [
  "protocol.ext.allow=never",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  // Objects come as one pack, renamed when it is complete, so a killed fetch leaves no incomplete history.
  "fetch.unpackLimit=1",
  "i18n.logOutputEncoding=UTF-8",
].flatMap((setting) => ["-c", setting]);

/** `configDirectory` gets Git's configuration files, one for each repository. */
export async function openGit(
  configDirectory: string,
  privateHosts: PrivateHosts | (() => Promise<PrivateHosts>) = ["*"],
): Promise<Git> {
  await mkdir(configDirectory, { recursive: true });
  // Read once, so that a later change of PATH does not change which Git runs.
  const environment = gitEnvironment("/dev/null");
  const configFileFor = configFiles(configDirectory);
  const running = new Map<GitProcess, Promise<unknown>>();

  function start(args: readonly string[], options: GitOptions = {}): GitProcess {
    options.signal?.throwIfAborted();
    const place = options.directory === undefined ? [] : ["-C", options.directory];
    const reaching = (options.access?.settings ?? []).flatMap(([key, value]) => [
      "-c",
      `${key}=${value}`,
    ]);
    const all = [...settings, ...reaching, "--no-pager", "--literal-pathspecs", ...place, ...args];
    // Its own process group, so that its helpers (ssh, index-pack) end with it.
    const child = spawnWithPipes("git", all, {
      env: {
        ...environment,
        GIT_CONFIG_GLOBAL: configFileFor(options),
        ...options.access?.environment,
      },
      detached: true,
    });
    // It may end before it has read everything; its exit code then gives the reason.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");

    let endedBy: Fault | undefined;
    const kill = (reason: Fault) => {
      endedBy ??= reason;
      killGroup(child);
      // Unread output would keep the process from counting as closed.
      child.stdout.destroy();
    };
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const timer = setTimeout(() => {
      kill(new Fault("deadline_exceeded", `git ${args[0]} took more than ${timeoutMs / 1_000} s`));
    }, timeoutMs);
    const onAbort = () => kill(new Fault("cancelled", `git ${args[0]} was cancelled`));
    options.signal?.addEventListener("abort", onAbort, { once: true });

    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < maxErrorBytes) stderr += text;
    });
    const ended = new Promise<{ exitCode: number; stderr: string }>((resolve, reject) => {
      child.once("error", (cause) => reject(endedBy ?? notStarted(cause)));
      child.once("close", (code) => {
        if (endedBy) reject(endedBy);
        else resolve({ exitCode: code ?? 128, stderr });
      });
    }).finally(() => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
      running.delete(process);
    });
    const process: GitProcess = { stdout: child.stdout, ended, kill };
    running.set(
      process,
      ended.catch(() => {}),
    );
    return process;
  }

  return {
    start,
    accessTo: async (address) =>
      remoteAccess(
        address,
        typeof privateHosts === "function" ? await privateHosts() : privateHosts,
      ),

    async run(args, options = {}) {
      const process = start(args, options);
      const most = options.maxOutputBytes ?? defaultMaxOutputBytes;
      const parts: Buffer[] = [];
      let sizeBytes = 0;
      process.stdout.on("data", (part: Buffer) => {
        parts.push(part);
        sizeBytes += part.byteLength;
        if (sizeBytes > most) {
          process.kill(
            new Fault("resource_exhausted", `git ${args[0]} wrote more than ${most} bytes`),
          );
        }
      });
      const { exitCode, stderr } = await process.ended;
      return { exitCode, stderr, stdout: Buffer.concat(parts) };
    },

    async stop() {
      for (const process of running.keys()) process.kill(new Fault("cancelled", "we are stopping"));
      await Promise.all(running.values());
    },
  };
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  // After its end, its process id may belong to another process.
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}

function notStarted(cause: Error): Fault {
  const isAbsent = "code" in cause && cause.code === "ENOENT";
  return isAbsent
    ? new Fault("failed_precondition", "git is not installed, or not in PATH; install it", {
        cause,
      })
    : new Fault("internal", `git could not be started: ${messageOf(cause)}`, { cause });
}
