import { messageOf } from "#core/fault.ts";
import { outputOf } from "../run-program.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** What must be installed before Grange is. */
export function toolChecks(): Check[] {
  return [
    {
      name: "node",
      async run() {
        const version = process.versions.node;
        return isAtLeast(version, [20, 19])
          ? ok(`Node ${version}`)
          : fail(`Node ${version} is too old`, "Install Node 20.19 or later: https://nodejs.org");
      },
    },
    {
      name: "npm",
      run: () =>
        versionOf("npm", (version) => ok(`npm ${version}`), {
          fix: "Install npm, which comes with Node; `npm start` and `grange example` use it",
        }),
    },
    {
      name: "git",
      run: () =>
        versionOf(
          "git",
          (text) => {
            const version = /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? "0";
            return isAtLeast(version, [2, 36])
              ? ok(`git ${version}`)
              : warn(`git ${version} is old`, "Install git 2.36 or later");
          },
          { fix: "Install git: apt-get install git, or https://git-scm.com" },
        ),
    },
    {
      name: "shell",
      run: async () => {
        const answer = await outputOf("/bin/sh", ["-c", "echo $((6 * 7))"]);
        return answer.trim() === "42"
          ? ok("/bin/sh works")
          : fail("/bin/sh does not work", "Jobs are run by /bin/sh; put one there");
      },
    },
  ];
}

async function versionOf(
  program: string,
  judge: (version: string) => ReturnType<typeof ok>,
  { fix }: { readonly fix: string },
) {
  try {
    return judge((await outputOf(program, ["--version"])).trim());
  } catch (reason) {
    return fail(messageOf(reason), fix);
  }
}

export function isAtLeast(version: string, floor: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > floor[0] || (major === floor[0] && minor >= floor[1]);
}
