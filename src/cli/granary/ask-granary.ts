import { Fault } from "#core/fault.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { rest } from "#core/resting.ts";
import { granaryPlace, lockPath, ownVariables } from "#granary/config.ts";
import { Answer } from "#granary/protocol/answers.ts";
import { holderOf } from "#machine/holder-lock.ts";
import { UsageError } from "../usage-error.ts";
import { connectToGranary, type GranaryClient, type Unreached } from "./granary-client.ts";
import { installHooks } from "./install-hooks.ts";
import { aheadLines, statusLines } from "./status-lines.ts";
import { whatIsBuilt } from "./what-is-built.ts";
import { buildLines, whyLines } from "./why-lines.ts";

interface Asking {
  readonly data?: string;
  readonly json?: boolean;
}

const reachMs = 2_000;
const answerMs = 30_000;
const trimMs = 600_000;
/** A granary that stops first publishes the indexes of its builds. In ms. */
const stopMs = 30_000;

export async function status(options: Asking): Promise<void> {
  await withGranary(options, async (client) => {
    const { status } = await client.ask({ type: "status" }, "status", answerMs);
    print(
      options,
      status,
      statusLines(status, new Date(), ownVariables()["GRANGE_SERVER"] || undefined),
    );
  });
}

export async function builds(options: Asking): Promise<void> {
  await withGranary(options, async (client) => {
    const told = await client.ask({ type: "report" }, "reported", answerMs);
    print(options, told.builds, buildLines(told, new Date()));
  });
}

/** Prints why results of a build, or of the last one, were late or missing. */
export async function why(options: Asking, build: string | undefined): Promise<void> {
  if (build !== undefined && !/^[0-9a-f-]{1,36}$/.test(build)) {
    throw new UsageError(
      `"${build}" is not the id of a build; \`grange granary builds\` lists them`,
    );
  }
  await withGranary(options, async (client) => {
    const told = await client.ask({ type: "report", build }, "reported", answerMs);
    print(options, told.report, whyLines(told, new Date()));
  });
}

export async function trim(options: Asking): Promise<void> {
  await withGranary(options, async (client) => {
    const { removedBytes, freedBytes } = await client.ask({ type: "trim" }, "trimmed", trimMs);
    const freed = freedBytes === undefined ? "" : `, freed ${memorySizeText(freedBytes)} of disk`;
    const text = `removed ${memorySizeText(removedBytes)}${freed}`;
    print(options, { removedBytes, freedBytes }, [text]);
  });
}

export async function stop(options: Asking): Promise<void> {
  const place = granaryPlace(ownVariables(), options.data);
  await withGranary(options, async (client) => {
    await client.ask({ type: "stop" }, "stopping", answerMs);
  });
  const until = performance.now() + stopMs;
  while (holderOf(lockPath(place)) !== undefined) {
    if (performance.now() > until) {
      throw new Fault("deadline_exceeded", "the granary has not stopped yet");
    }
    await rest(25);
  }
  print(options, { stopped: true }, ["stopped"]);
}

export async function prefetch(
  options: Asking & {
    readonly dryRun?: boolean;
    readonly commit?: string;
    readonly project?: string;
  },
): Promise<void> {
  const { dataDirectory } = granaryPlace(ownVariables(), options.data);
  const dryRun = options.dryRun === true;
  await withGranary(options, async (client) => {
    const what = await whatIsBuilt({
      directory: process.cwd(),
      project: options.project,
      commit: options.commit,
      command: "grange granary prefetch",
      dataDirectory,
    });
    const { ahead } = await client.ask(
      { type: "fetch-ahead", ...what, dryRun },
      "fetching",
      answerMs,
    );
    const { status } = await client.ask({ type: "status" }, "status", answerMs);
    print(options, ahead, aheadLines(ahead, status.farm, dryRun));
  });
}

export async function hooks(): Promise<void> {
  const { written, there } = await installHooks(process.cwd());
  const lines = [
    ...written.map((path) => `wrote ${path}`),
    ...there.map((path) => `${path} already contains it`),
  ];
  print({}, undefined, lines);
}

async function withGranary(
  options: Asking,
  work: (client: GranaryClient) => Promise<void>,
): Promise<void> {
  const { socketPath } = granaryPlace(ownVariables(), options.data);
  const client = await connectToGranary(
    socketPath,
    reachMs,
    (received) => Answer.safeParse(received).data,
  );
  if (typeof client === "string")
    throw new Fault("failed_precondition", whyNone(client, socketPath));
  try {
    await work(client);
  } finally {
    client.close();
  }
}

function whyNone(unreached: Unreached, socketPath: string): string {
  switch (unreached) {
    case "nobody":
      return `no granary runs at ${socketPath}. Start one with \`grange exec -- COMMAND\`, or in the foreground with \`grange granary\``;
    case "silent":
      return `the granary at ${socketPath} does not answer: its disk may be slow, or its process may be stopped. To end it, use \`kill\` with the \`pid\` from the file \`endpoint\` in its data directory`;
    case "other-version":
      return `the granary at ${socketPath} has another version: stop it with \`grange granary stop\` of that version`;
  }
}

function print(options: Asking, value: unknown, lines: readonly string[]): void {
  const text = options.json === true ? [JSON.stringify(value, undefined, 2)] : lines;
  for (const line of text) process.stdout.write(`${line}\n`);
}
