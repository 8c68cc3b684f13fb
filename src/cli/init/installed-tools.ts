import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { NeededTool } from "#init/starter-job.ts";
import { runProgram } from "../run-program.ts";

/** A tool that a job on this machine could not find or start. */
export interface MissingTool {
  readonly program: string;
  /** A sentence for people: the problem and the remedy. */
  readonly advice: string;
}

/** Looks up a program like a job on this machine. */
export function installedAt(program: string, searchPath: string): string | undefined {
  return searchPath
    .split(":")
    .filter((directory) => directory.startsWith("/"))
    .map((directory) => join(directory, program))
    .find(isProgram);
}

/** Returns the tools that are not installed, and those in a home directory that do not start without that home. */
export async function missingTools(
  tools: readonly NeededTool[],
  searchPath: string,
): Promise<MissingTool[]> {
  const missing = await Promise.all(
    tools.map(async ({ program, package: name }): Promise<MissingTool[]> => {
      const path = installedAt(program, searchPath);
      if (path === undefined) {
        return [
          {
            program,
            advice: `${program} is not installed here; on Debian: apt-get install ${name}`,
          },
        ];
      }
      if (!path.startsWith(`${homedir()}/`) || (await startsWithoutHome(path, searchPath)))
        return [];
      const advice =
        `${path} needs your home directory, which jobs do not see. ` +
        `Put the directory of the real program before it on PATH, or install it for all users: apt-get install ${name}`;
      return [{ program, advice }];
    }),
  );
  return missing.flat();
}

/** Launchers of version managers read settings in the user's home; jobs have an empty home. */
async function startsWithoutHome(path: string, searchPath: string): Promise<boolean> {
  const version = path.endsWith("/go") ? "version" : "--version";
  const { exitCode } = await runProgram(
    "env",
    ["-i", `PATH=${searchPath}`, "HOME=/nonexistent", path, version],
    { timeoutMs: 10_000 },
  );
  return exitCode === 0;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
