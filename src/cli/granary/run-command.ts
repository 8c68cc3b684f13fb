import { spawn } from "node:child_process";
import { constants } from "node:os";

/** As shells have it. */
const notFound = 127;
const notAllowed = 126;
const killedBy = 128;

interface CommandEnd {
  readonly exitCode: number;
  /** Why it did not even start; undefined when it did. */
  readonly trouble: string | undefined;
}

/**
 * Runs a command in our place: it has our streams, hears our signals, and its exit code is ours.
 *
 * What is typed at a terminal (Ctrl-C) goes to all that run there, and so to the command without us; sent once more, it
 * would be a second Ctrl-C, which means something else to many tools.
 */
export function runCommand(
  words: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<CommandEnd> {
  const [program = "", ...args] = words;
  const isTyped = process.stdin.isTTY === true;
  return new Promise((resolve) => {
    const forwarded = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
    const typed = ["SIGINT", "SIGQUIT"] as const;
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    const forwardUntyped = (signal: NodeJS.Signals) => void (isTyped || child.kill(signal));
    // Before the command is there: it may run, and be waited for, before `spawn` has come back, and a signal that
    // nobody hears would end us and leave it running.
    for (const signal of forwarded) process.on(signal, forward);
    for (const signal of typed) process.on(signal, forwardUntyped);
    const child = spawn(program, args, { stdio: "inherit", env: { ...variables } });
    const end = (result: CommandEnd) => {
      for (const signal of forwarded) process.off(signal, forward);
      for (const signal of typed) process.off(signal, forwardUntyped);
      resolve(result);
    };
    child.once("error", (cause: NodeJS.ErrnoException) => {
      const isMissing = cause.code === "ENOENT";
      const why = isMissing
        ? "no such command"
        : cause.code === "EACCES"
          ? "it is not executable"
          : cause.message;
      const trouble = `${program}: ${why}`;
      end({ exitCode: isMissing ? notFound : notAllowed, trouble });
    });
    child.once("exit", (code, signal) => {
      const exitCode = code ?? killedBy + (signal === null ? 0 : (constants.signals[signal] ?? 0));
      end({ exitCode, trouble: undefined });
    });
  });
}
