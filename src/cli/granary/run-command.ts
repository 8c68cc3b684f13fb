import { spawn } from "node:child_process";
import { constants } from "node:os";

/** The exit code of shells for a missing command. */
const notFound = 127;
const notAllowed = 126;
const killedBy = 128;

interface CommandEnd {
  readonly exitCode: number;
  /** Why it did not start; undefined when it did. */
  readonly trouble: string | undefined;
}

/**
 * Runs a command in place of this process: it inherits the streams, gets forwarded signals, and its exit code becomes
 * that of this process.
 *
 * Ctrl-C at a terminal is sent to all processes there, and so to the command without forwarding; forwarded, it would be
 * a second Ctrl-C, which many tools treat differently.
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
    // Before the command starts: it may run before `spawn` has returned, and an unhandled signal would end this process
    // and leave the command running.
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
