import type { z } from "zod";
import { Fault } from "#core/fault.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { nodeProblem } from "./node-problem.ts";
import { runOverSsh } from "./run-ssh.ts";
import { callScript, lookScript, receiveScript } from "./scripts-there.ts";
import type { SshAccess } from "./ssh-arguments.ts";
import type { SshHost } from "./ssh-host.ts";
import { answerMark } from "./there/commands-there.ts";
import type { WorkerBundle } from "./worker-bundle.ts";
import { RemoteFailure } from "./worker-settings.ts";

export interface Place {
  /** Below the user's home on that machine, unless it begins with a slash. */
  readonly directory: string;
  /** The command or path of Node on that machine. */
  readonly node: string;
}

/** A machine that is reachable with ssh, with Node and the worker's file on it. */
export class OtherMachine {
  /** Whether the file had to be copied. */
  readonly copied: boolean;
  readonly directory: string;
  readonly #host: SshHost;
  readonly #access: SshAccess;
  readonly #command: readonly string[];

  private constructor(parts: {
    readonly host: SshHost;
    readonly access: SshAccess;
    readonly directory: string;
    readonly command: readonly string[];
    readonly copied: boolean;
  }) {
    this.#host = parts.host;
    this.#access = parts.access;
    this.#command = parts.command;
    this.directory = parts.directory;
    this.copied = parts.copied;
  }

  /** Checks what exists on the machine, and copies the file if its version is missing. */
  static async reach(
    host: SshHost,
    access: SshAccess,
    { directory: wanted, node }: Place,
    { bytes, sha256 }: WorkerBundle,
  ): Promise<OtherMachine> {
    const look = await runOverSsh(host, access, lookScript, [wanted, node, sha256, answerMark]);
    const at = look.stdout.lastIndexOf(answerMark);
    const [directory, version, there] = look.stdout.slice(at + answerMark.length).split("\n");
    if (at < 0 || directory === undefined) throw strange(host, look.stdout + look.stderr);
    const problem = nodeProblem(host.text, version ?? "", node);
    if (problem !== undefined) throw new Fault("failed_precondition", problem);
    if (there === "strange")
      throw new Fault(
        "failed_precondition",
        `${directory} on ${host.text} belongs to another user, or other users can write to it. ` +
          "They could replace the worker. Name another directory with --remote-directory",
      );
    const copied = there !== "yes";
    if (copied) {
      const sent = await runOverSsh(host, access, receiveScript, [node, directory, sha256], bytes);
      if (sent.code !== 0)
        throw new Fault(
          "failed_precondition",
          `the worker's file cannot be written to ${directory} on ${host.text}: ${reasonIn(sent.stderr)}`,
        );
    }
    const command = [node, `${directory}/grange-worker-${sha256}.mjs`];
    return new OtherMachine({ host, access, directory, command, copied });
  }

  /** Runs a command of the worker's file on the machine; its error is thrown here. */
  async call<S extends z.ZodType>(
    schema: S,
    args: readonly string[],
    input?: object,
  ): Promise<z.output<S>> {
    const { stdout, stderr } = await runOverSsh(
      this.#host,
      this.#access,
      callScript,
      [...this.#command, ...args],
      input === undefined ? "" : JSON.stringify(input),
    );
    const at = stdout.lastIndexOf(answerMark);
    if (at < 0) throw strange(this.#host, stderr || stdout);
    const answer: unknown = JSON.parse(stdout.slice(at + answerMark.length));
    const failure = RemoteFailure.safeParse(answer);
    if (failure.success) throw new Fault("failed_precondition", printableLine(failure.data.error));
    return schema.parse(answer);
  }
}

function strange({ text }: SshHost, output: string): Fault {
  return new Fault("failed_precondition", `${text} sent an unexpected answer: ${reasonIn(output)}`);
}

/** Node writes the reason into the line that begins with an error's name; without one, the last line is used. */
function reasonIn(text: string): string {
  const lines = text.trim().split("\n");
  const line = lines.find((each) => /^\w*Error\b/.test(each)) ?? lines.at(-1) ?? "";
  return printableLine(line).slice(0, 500) || "it printed no reason";
}
