import { expect } from "vitest";
import { grange } from "./farm.ts";
import {
  type Finished,
  type Program,
  type ProgramOptions,
  runProgram,
  startProgram,
} from "./process.ts";

/** Starts a command of the built program, as a user would. */
export function startGrange(args: readonly string[], options: ProgramOptions = {}): Program {
  return startProgram(process.execPath, [grange, ...args], options);
}

/** Runs a command to its end: of the built program, or of another copy of it. */
export function runGrange(
  args: readonly string[],
  { program = grange, ...options }: ProgramOptions & { readonly program?: string } = {},
): Promise<Finished> {
  return runProgram(process.execPath, [program, ...args], options);
}

/**
 * Returns the JSON of a command with `--json`; the command must succeed and print nothing else on
 * stdout.
 */
export async function grangeJson(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<unknown> {
  const { code, stdout, stderr } = await runGrange([...args, "--json"], options);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** The last line of standard output, which is the result if others come before it. */
export function lastLine({ stdout }: Finished): unknown {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}
