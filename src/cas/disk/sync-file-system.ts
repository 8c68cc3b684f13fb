import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { Fault } from "#core/fault.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";

/**
 * Returns a function that makes everything durable that was written to a directory's file system, by `syncfs`.
 *
 * Node has no such call, and syncs single files only: 5.6 ms each, while `syncfs` takes 18 ms for a hundred. A shell,
 * which lives as long as this process, runs `sync --file-system` of GNU coreutils, because starting a program from a
 * large process blocks its thread for 9 ms. Calls must not overlap. Throws `internal` with the program's message when
 * it fails.
 */
export function syncFileSystem(directory: string): () => Promise<void> {
  let shell: ChildProcessWithoutNullStreams | undefined;
  let answer: ((line: string) => void) | undefined;
  let complaints = "";

  function open(): ChildProcessWithoutNullStreams {
    const child = spawnWithPipes(
      "sh",
      ["-c", 'while read -r _; do sync -f -- "$1"; echo "$?"; done', "sh", directory],
      { detached: true },
    );
    const end = (line: string) => {
      if (shell === child) shell = undefined;
      answer?.(line);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => answer?.(text.trim()));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaints += text;
    });
    child.once("error", (reason) => {
      complaints += reason.message;
      end("not started");
    });
    child.once("close", () => end("ended"));
    child.stdin.on("error", () => {});
    // It ends with this process, whose end closes its input, and does not keep this process alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) pipeOf(stream).unref();
    return child;
  }

  return async () => {
    complaints = "";
    shell ??= open();
    const { stdin, stdout } = shell;
    // This process stays alive while a caller waits for a sync.
    pipeOf(stdout).ref();
    const exitCode = await new Promise<string>((resolve) => {
      answer = resolve;
      stdin.write("\n");
    });
    answer = undefined;
    pipeOf(stdout).unref();
    if (exitCode !== "0")
      throw new Fault(
        "internal",
        `blobs could not be made durable: sync -f ${directory}: ${complaints.trim() || exitCode}`,
      );
  };
}

/** The pipes of a child process are sockets, which their types do not say. */
function pipeOf(stream: Readable | Writable): Socket {
  return stream as Socket;
}
