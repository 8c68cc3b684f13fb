import { spawn } from "node:child_process";
import { Fault, messageOf } from "#core/fault.ts";
import { endInTime } from "../end-in-time.ts";
import { explainSshFailure, sshItself } from "./explain-ssh-failure.ts";
import { remoteScript, type SshAccess, sshArguments } from "./ssh-arguments.ts";
import type { SshHost } from "./ssh-host.ts";

interface RemoteEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longer than copying the worker's file over a slow connection takes. */
const longestMs = 10 * 60_000;

/**
 * Runs a script of POSIX sh on another machine.
 *
 * Throws with a message for people when ssh could not connect. The caller checks how the script itself ended.
 */
export function runOverSsh(
  host: SshHost,
  access: SshAccess,
  script: string,
  args: readonly string[],
  input: Uint8Array | string = "",
): Promise<RemoteEnd> {
  const child = spawn("ssh", sshArguments(host, access, remoteScript(script, args)), {
    stdio: "pipe",
  });
  endInTime(child, longestMs, "SIGTERM");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // A process that ends without reading leaves a broken pipe; its exit code gives the reason.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(cannotStart(cause)));
    child.once("close", (code) => {
      if (code === null || code === sshItself)
        reject(new Fault("unavailable", explainSshFailure(host, stderr)));
      else resolve({ code, stdout, stderr });
    });
  });
}

export function cannotStart(cause: Error): Fault {
  const isMissing = "code" in cause && cause.code === "ENOENT";
  const why = isMissing
    ? "this machine has no ssh; install the OpenSSH client"
    : `ssh cannot be started: ${messageOf(cause)}`;
  return new Fault("failed_precondition", why, { cause });
}
