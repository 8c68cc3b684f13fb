import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Benchmark, Suite, SuiteSection } from "#suites/suite.ts";
import type { RunFolders } from "./folders/run-folders.ts";

/** The kind of process: with a counter of instructions, or with a clock. Never both. */
export type ProcessKind = "counted" | "timed";

/** The commands of one run, with all placeholders filled. */
export interface RunPlan {
  readonly prepare: readonly string[] | undefined;
  /** Whether the command runs once before, without measurement. */
  readonly warm: boolean;
  readonly patch: Benchmark["patches"][string] | undefined;
  readonly command: readonly string[];
  /** In addition to the fixed variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly exitCodes: readonly number[];
  /** The command must print a line that matches this. */
  readonly mustPrint: string | undefined;
  readonly timeoutMs: number;
}

export interface CaseParts {
  readonly section: SuiteSection;
  readonly benchmark: Benchmark;
  readonly backend: Suite["backends"][string];
}

/** Returns the parts of a suite for a case. */
export function partsOf(suite: Suite, testCase: TestCase): CaseParts {
  const section = suite[testCase.section];
  const benchmark = own(section?.benchmarks, testCase.benchmark);
  const backend = own(suite.backends, testCase.backend);
  if (section === undefined || benchmark === undefined || backend === undefined) {
    throw new Fault("not_found", `suite ${suite.suite} has no case ${caseKey(testCase)}`);
  }
  return { section, benchmark, backend };
}

/** Pure: `folders` are those that the command sees, `artifact` is the result of the artifact cache. */
export function planRun(
  suite: Suite,
  testCase: TestCase,
  artifact: PlacedArtifact,
  folders: RunFolders,
  kind: ProcessKind,
): RunPlan {
  const { section, benchmark, backend } = partsOf(suite, testCase);
  const profile = testCase.profile === "" ? undefined : own(section.profiles, testCase.profile);
  const scenario = testCase.scenario === "" ? undefined : own(section.scenarios, testCase.scenario);
  const counting = kind === "counted" ? backend.instructions : undefined;
  const moved = (text: string) => movedPath(text, artifact.directory, folders.artifact);
  const fill = (text: string) => filled(text, folders);
  const tool = artifact.tool.map(moved);
  const command = commandOf(
    benchmark.command ?? section.command,
    tool,
    counting?.args ?? [],
  ).concat(benchmark.args, profile?.args ?? [], scenario?.args ?? []);
  const patch = scenario?.patch === undefined ? undefined : own(benchmark.patches, scenario.patch);
  const env = {
    ...backend.env,
    ...mapped(artifact.env, moved),
    ...benchmark.env,
    ...counting?.env,
  };
  return {
    prepare: section.prepare && expand(section.prepare, tool).map(fill),
    warm: scenario?.warm ?? false,
    patch,
    command: command.map(fill),
    env: mapped(env, fill),
    exitCodes: section.exitCodes,
    mustPrint: section.mustPrint,
    timeoutMs: section.timeoutMinutes * 60_000,
  };
}

/**
 * Returns the command of a case. Arguments for counting come directly after the program, because options of a runtime
 * come before its script. They belong to the tool: a command without the tool does not get them.
 */
function commandOf(
  command: readonly string[],
  tool: readonly string[],
  counting: readonly string[],
): string[] {
  const [program, ...others] = tool;
  if (program !== undefined) return expand(command, [program, ...counting, ...others]);
  const [first = "", ...rest] = command;
  return [first, ...counting, ...rest];
}

function expand(command: readonly string[], tool: readonly string[]): string[] {
  return command.flatMap((argument) => (argument === "{tool}" ? tool : [argument]));
}

/** Fills the placeholders of a text in one pass: inserted text is not searched again. */
export function filled(text: string, folders: RunFolders): string {
  return text.replace(
    /\{(artifact|source|out|state)\}/g,
    (_, name: "artifact" | "source" | "out" | "state") => folders[name],
  );
}

/** The artifact cache fills placeholders with its own folder, which has another path in a sandbox. */
function movedPath(text: string, from: string, to: string): string {
  return text === from || text.includes(`${from}/`) ? text.replaceAll(from, to) : text;
}

function mapped(
  env: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, change(value)]));
}

/** Names come from requests: `constructor` must not be found as a benchmark. */
function own<T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}
