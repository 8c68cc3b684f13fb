import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { definitionLimits } from "./definition-limits.ts";
import { evaluatorProgram } from "./evaluator-program.ts";

const Evaluated = z.object({
  jobs: z.array(z.object({ file: z.string(), name: z.string(), job: z.unknown() })),
  problems: z.array(
    z.object({
      file: z.string(),
      path: z.array(z.union([z.string(), z.number()])),
      message: z.string(),
    }),
  ),
});
/** The jobs that templates produced, and the problems of the others. */
type Evaluated = z.infer<typeof Evaluated>;

interface Templates {
  /** The `jobs` of each file. */
  readonly files: readonly { readonly file: string; readonly jobs: unknown }[];
  /** The values that expressions can use. Plain JSON. */
  readonly context: Readonly<Record<string, unknown>>;
}

const Reply = z.object({ number: z.number(), text: z.string() });

interface Waiting {
  readonly number: number;
  readonly settle: (text: string) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Fills the holes of templates in a separate process, with limits on time and memory.
 *
 * Expressions come from untrusted commits: `range(0, 1e9)` may fail its graph, but must not stop the server. A thread
 * is not sufficient: V8 ends the whole process when one array becomes too large, regardless of the thread's limits. The
 * process answers one request after the other; when it dies or does not answer, the next request starts another.
 */
export class TemplateEvaluator implements Service {
  #process: ChildProcess | undefined;
  #waiting: Waiting | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  evaluate(templates: Templates): Promise<Evaluated> {
    const turn = this.#last.then(() => this.#ask(templates));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async stop(): Promise<void> {
    this.#end(new Fault("unavailable", "the farm is stopping"));
    await this.#last;
  }

  async #ask(templates: Templates): Promise<Evaluated> {
    const number = ++this.#asked;
    const child = this.#process ?? this.#start();
    // A little later than the process's own limit: this one is for a process that hangs outside of
    // a template.
    const hung = setTimeout(
      () => this.#end(new Fault("invalid_argument", `${needsTooMuch}: time`)),
      definitionLimits.evaluationMs + 1_000,
    );
    child.ref();
    child.channel?.ref();
    try {
      const text = await new Promise<string>((settle, refuse) => {
        this.#waiting = { number, settle, refuse };
        child.send({
          number,
          ...templates,
          mostJobs: definitionLimits.jobs,
          mostBytes: definitionLimits.renderedBytes,
          mostMs: definitionLimits.evaluationMs,
        });
      });
      return Evaluated.parse(JSON.parse(text));
    } finally {
      clearTimeout(hung);
      this.#waiting = undefined;
      // An idle evaluator does not keep the server process alive.
      child.unref();
      child.channel?.unref();
    }
  }

  #start(): ChildProcess {
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${definitionLimits.evaluationMemoryMiB}`,
        "--disallow-code-generation-from-strings",
        "--eval",
        evaluatorProgram,
        jsonEPath(),
      ],
      { stdio: ["ignore", "ignore", "ignore", "ipc"], env: {} },
    );
    const gone = (reason: Fault) => {
      if (child !== this.#process) return;
      this.#process = undefined;
      this.#waiting?.refuse(reason);
    };
    child.on("message", (message) => {
      const reply = Reply.parse(message);
      if (reply.number === this.#waiting?.number) this.#waiting.settle(reply.text);
    });
    child.once("error", (cause) =>
      gone(
        new Fault("internal", `the template evaluator cannot start: ${cause.message}`, {
          cause,
        }),
      ),
    );
    child.once("exit", () => gone(new Fault("invalid_argument", `${needsTooMuch}: memory`)));
    this.#process = child;
    return child;
  }

  #end(reason: Fault): void {
    const child = this.#process;
    this.#process = undefined;
    this.#waiting?.refuse(reason);
    child?.kill("SIGKILL");
  }
}

/** Returns the path of json-e: the file that the build puts beside the bundle, or the package where sources run. */
function jsonEPath(): string {
  const beside = fileURLToPath(new URL("./json-e.cjs", import.meta.url));
  return existsSync(beside) ? beside : createRequire(import.meta.url).resolve("json-e");
}

const needsTooMuch = "the templates need too much time or memory";
