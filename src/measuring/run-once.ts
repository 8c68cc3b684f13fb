import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import type { MetricValues } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import type { TestCase } from "#core/test-case.ts";
import type { DefinedMetric, Suite } from "#suites/suite.ts";
import { type Meanwhile, warningsOf, watchNeighbours } from "./environment/neighbours.ts";
import { fixedEnvironment } from "./fixed-environment.ts";
import { assembleSource, type PlacedSource, putOnPatch } from "./folders/assemble-source.ts";
import { emptyFolder, emptyFolders, ownFolders, type RunFolders } from "./folders/run-folders.ts";
import { filled, type ProcessKind, partsOf, planRun, type RunPlan } from "./plan-run.ts";
import type { Counter } from "./processes/counters.ts";
import { type EndedProcess, runBounded } from "./processes/run-bounded.ts";
import { searchPath } from "./processes/sandbox.ts";
import { firstFit, metricsFrom, valuesOf } from "./values-of.ts";
import type { WorkPlace } from "./work-place.ts";

const shownLines = 30;

const shownCharacters = 8_000;

interface ProcessToRun {
  readonly suite: Suite;
  readonly case: TestCase;
  readonly artifact: PlacedArtifact;
  readonly source: PlacedSource;
  readonly place: WorkPlace;
  readonly signal: AbortSignal;
  /** Only for counted runs. */
  readonly counter?: Counter | undefined;
}

export interface ProcessResult {
  readonly values: MetricValues;
  readonly warnings: string[];
}

/** A simulator gets more time, because it is thirty to fifty times slower. */
const simulatorWaitLimit = 40;

/** Measures one process in new folders, with all its preparation. */
export async function runOnce(kind: ProcessKind, run: ProcessToRun): Promise<ProcessResult> {
  const { suite, place, source, artifact, counter } = run;
  const { sandbox, meter, fixedLayout } = place.tools;
  const { benchmark, backend } = partsOf(suite, run.case);
  const folders = await emptyFolders(place.directory, artifact.directory);
  const seen = sandbox.seen(folders);
  const plan = planRun(suite, run.case, artifact, seen, kind);
  await assembleSource(benchmark, source, folders.source);
  for (const name of ownFolders) sandbox.give(folders[name]);
  const runHere = (argv: readonly string[], waitLimitMs = 1) =>
    runCommand(run, plan, argv, folders, waitLimitMs);

  if (plan.prepare !== undefined) {
    const ended = await runHere(plan.prepare);
    if (ended.exitCode !== 0) throw failureOf(ended, plan.prepare, "prepare: ");
  }
  if (plan.warm) {
    checkRun(await runHere(plan.command), plan, "the run before: ");
    await emptyFolder(folders.out);
    sandbox.give(folders.out);
  }
  if (plan.patch !== undefined) {
    await putOnPatch(plan.patch, folders.source);
    sandbox.give(folders.source);
  }

  const isSimulated = counter?.kind === "cachegrind";
  const measured =
    kind === "counted" && counter !== undefined
      ? [...fixedLayout, ...counter.commandLine(plan.command, backend.instructions.simulator)]
      : (meter?.commandLine(plan.command) ?? plan.command);
  const neighbours = watchNeighbours();
  let meanwhile: Meanwhile;
  let ended: EndedProcess;
  try {
    ended = await runHere(measured, isSimulated ? simulatorWaitLimit : 1);
  } finally {
    meanwhile = neighbours.end();
  }
  checkRun(ended, plan, "");
  const metrics = metricsFrom(suite, run.case.section, kind);
  const usage = kind === "timed" ? meter?.read(ended.report) : undefined;
  const { values, missing } = valuesOf(metrics, {
    instructions: kind === "counted" ? counter?.read(ended.report) : undefined,
    usage,
    wallSeconds: usage?.wallSeconds ?? ended.wallMs / 1_000,
    output: outputOf(ended),
    sizes: await sizesOf(metrics, folders),
  });
  for (const name of missing) {
    place.note(`${run.case.benchmark} does not give ${name}`);
  }
  return { values, warnings: kind === "timed" ? warningsOf(meanwhile) : [] };
}

function runCommand(
  { place, signal }: ProcessToRun,
  plan: RunPlan,
  argv: readonly string[],
  folders: RunFolders,
  waitLimitMs: number,
): Promise<EndedProcess> {
  const { sandbox } = place.tools;
  return runBounded({
    argv: sandbox.commandLine(argv, folders),
    cwd: sandbox.workingFolder(folders),
    env: { ...fixedEnvironment(sandbox.seen(folders), searchPath()), ...plan.env },
    timeoutMs: plan.timeoutMs * waitLimitMs,
    signal,
    contained: sandbox.kind !== "none",
    writes: folders.out,
  }).catch((reason: unknown) => {
    // A caller that stops the run needs no result of the command.
    if (signal.aborted || !(reason instanceof Fault)) throw reason;
    throw new Fault(reason.code, `${reason.message}: ${argv.join(" ")}`, { cause: reason });
  });
}

/** Checks the result of a command: of the measured run, or of the same command before it. */
function checkRun(ended: EndedProcess, plan: RunPlan, which: string): void {
  const { command, exitCodes, mustPrint } = plan;
  if (!exitCodes.includes(ended.exitCode)) throw failureOf(ended, command, which);
  if (mustPrint === undefined || firstFit(mustPrint, outputOf(ended)) !== undefined) return;
  throw failureOf(ended, command, `${which}no line that fits ${mustPrint}; `);
}

function outputOf({ stdout, stderr }: EndedProcess): string {
  return `${stdout}\n${stderr}`;
}

async function sizesOf(
  metrics: readonly (readonly [string, DefinedMetric])[],
  folders: RunFolders,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const [, { take }] of metrics) {
    if (take.from !== "size" || sizes.has(take.of)) continue;
    const root = (["artifact", "source", "out", "state"] as const).find((name) =>
      take.of.startsWith(`{${name}}`),
    );
    const size = root && (await sizeBelow(folders[root], filled(take.of, folders)));
    if (size !== undefined) sizes.set(take.of, size);
  }
  return sizes;
}

/** Returns why a command failed: its end, its last output, and the command. */
function failureOf(
  { exitCode, stdout, stderr }: Pick<EndedProcess, "exitCode" | "stdout" | "stderr">,
  command: readonly string[],
  before: string,
): Fault {
  const how =
    exitCode > 128 && exitCode < 193
      ? `ended by signal ${exitCode - 128}`
      : `exit code ${exitCode}`;
  // Compilers report errors on stdout, runtimes on stderr: the existing one is used.
  const output = [lastLines(stdout), lastLines(stderr)].filter((text) => text !== "").join("\n");
  const words = [
    `${before}${how}`,
    `command: ${command.join(" ").slice(0, 2_000)}`,
    output === "" ? "it printed nothing" : output,
  ];
  return new Fault("failed_precondition", words.join("\n"));
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-shownLines).join("\n").slice(-shownCharacters);
}

/** Returns the bytes of a file, or of all files below a folder. Links count as 0, and are not followed. */
async function sizeOf(path: string): Promise<number> {
  const entry = await lstat(path);
  if (entry.isFile()) return entry.size;
  if (!entry.isDirectory()) return 0;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await sizeOf(join(path, name));
  return bytes;
}

/** Undefined when the path does not exist, or when a link in it leads out of the root. */
async function sizeBelow(root: string, path: string): Promise<number | undefined> {
  try {
    const [top, real] = [await realpath(root), await realpath(path)];
    return real === top || real.startsWith(`${top}/`) ? await sizeOf(real) : undefined;
  } catch {
    return undefined;
  }
}
