import type { JobDefinition } from "#definitions/job-definition.ts";

/** Tests that get the same files. */
export interface TestGroup {
  readonly jobs: readonly string[];
  /** Patterns of their files; undefined for the whole checkout. */
  readonly inputs: readonly string[] | undefined;
  /** The Vitest project of these tests in vitest.config.ts. */
  readonly project: string;
  /** Directories and patterns of test files; without any, all files of the Vitest project. */
  readonly paths: readonly string[];
}

const command = /^npx --no-install vitest run --project (\S+)((?: \S+)*)$/;

/** Groups jobs that run Vitest with the same inputs and the same Vitest project. */
export function testGroups(
  jobs: readonly (readonly [
    name: string,
    definition: Pick<JobDefinition, "commands" | "inputs">,
  ])[],
): TestGroup[] {
  const groups = new Map<string, TestGroup>();
  for (const [name, { commands = [], inputs }] of jobs) {
    const match = commands.length === 1 ? command.exec(commands[0] ?? "") : null;
    if (match === null) continue;
    const [, project = "", rest = ""] = match;
    const paths = rest.split(" ").filter((path) => path !== "");
    const given = inputs?.length === 1 && inputs[0] === "**" ? undefined : inputs;
    const key = JSON.stringify([project, given]);
    const before = groups.get(key);
    groups.set(key, {
      jobs: [...(before?.jobs ?? []), name],
      inputs: given,
      project,
      paths: [...(before?.paths ?? []), ...paths],
    });
  }
  return [...groups.values()];
}
