import type { z } from "zod";
import { Fault } from "#core/fault.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { nodeProblem } from "./node-problem.ts";
import { runOverSsh } from "./run-ssh.ts";
import type { SshAccess } from "./ssh-arguments.ts";
import type { SshHost } from "./ssh-host.ts";
import { answerMark } from "./there/commands-there.ts";
import type { WorkerBundle } from "./worker-bundle.ts";
import { RemoteFailure } from "./worker-settings.ts";

export interface Place {
  /** Below the user's home there, unless it begins with a slash. */
  readonly directory: string;
  /** The command or path of Node there. */
  readonly node: string;
}

/** Answers where things are there, which Node it has, and whether the file was copied before. */
const lookScript = `
case $1 in /*) directory=$1 ;; *) directory=$HOME/$1 ;; esac
version=$(command -v "$2" >/dev/null 2>&1 && "$2" --version 2>/dev/null)
there=no
[ -f "$directory/grange-worker-$3.mjs" ] && there=yes
printf '%s%s\\n%s\\n%s\\n' "$4" "$directory" "$version" "$there"
`;

/** Keeps what comes on stdin under its digest, and only if it is whole. In Node, which is there. */
const receiveScript = `exec "$1" -e '
const { createHash } = require("node:crypto");
const { mkdirSync, writeFileSync, renameSync } = require("node:fs");
const [directory, digest] = process.argv.slice(-2);
const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
  const bytes = Buffer.concat(chunks);
  if (createHash("sha256").update(bytes).digest("hex") !== digest) throw new Error("it arrived damaged");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const part = directory + "/" + process.pid + ".part";
  writeFileSync(part, bytes, { mode: 0o600 });
  renameSync(part, directory + "/grange-worker-" + digest + ".mjs");
});' -- "$2" "$3"`;

const callScript = `exec "$@"`;

/** A machine that ssh leads to, with Node and the worker's file on it. */
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

  /** Looks what is there, and copies the file if this version of it is not. */
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

  /** Runs a command of the worker's file there; what it throws there is thrown here. */
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

function strange({ text }: SshHost, said: string): Fault {
  return new Fault(
    "failed_precondition",
    `${text} answered with something else: ${reasonIn(said)}`,
  );
}

/** Node puts the reason into the line that begins with an error's name; else the last line must do. */
function reasonIn(text: string): string {
  const lines = text.trim().split("\n");
  const line = lines.find((each) => /^\w*Error\b/.test(each)) ?? lines.at(-1) ?? "";
  return printableLine(line).slice(0, 500) || "it said nothing";
}
