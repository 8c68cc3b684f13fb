import type { JobDefinition } from "#definitions/job-definition.ts";

/** Tests that get the same files. */
export interface TestGroup {
  readonly jobs: readonly string[];
  /** Patterns of their files; undefined for the whole checkout. */
  readonly inputs: readonly string[] | undefined;
  /** The arguments of `vitest run` that choose these tests. */
  readonly vitestArguments: readonly string[];
}

const command = /^npx --no-install vitest run --project (\S+)((?: \S+)*)$/;

/** Groups jobs that run Vitest with the same inputs and the same Vitest project. */
export function testGroups(
  jobs: readonly (readonly [
    name: string,
    definition: Pick<JobDefinition, "commands" | "inputs">,
  ])[],
): TestGroup[] {
  const groups = new Map<string, { group: TestGroup; project: string; paths: string[] }>();
  for (const [name, { commands = [], inputs }] of jobs) {
    const match = commands.length === 1 ? command.exec(commands[0] ?? "") : null;
    if (match === null) continue;
    const [, project = "", rest = ""] = match;
    const paths = rest.split(" ").filter((path) => path !== "");
    const given = inputs?.length === 1 && inputs[0] === "**" ? undefined : inputs;
    const key = JSON.stringify([project, given]);
    const before = groups.get(key);
    const all = [...(before?.paths ?? []), ...paths];
    groups.set(key, {
      project,
      paths: all,
      group: {
        jobs: [...(before?.group.jobs ?? []), name],
        inputs: given,
        vitestArguments: ["--project", project, ...all],
      },
    });
  }
  return [...groups.values()].map(({ group }) => group);
}
