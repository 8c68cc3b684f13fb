import { messageOf } from "#core/fault.ts";
import { outputOf } from "../run-program.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Checks the programs that Grange requires. */
export function toolChecks(): Check[] {
  return [
    {
      name: "node",
      needs: "Node is version 20.19 or later",
      fix: "Install Node 20.19 or later: https://nodejs.org",
      async run() {
        const version = process.versions.node;
        return isAtLeast(version, [20, 19])
          ? ok(`Node ${version}`)
          : fail(`Node ${version} is too old`);
      },
    },
    {
      name: "npm",
      needs: "npm is installed",
      fix: "Install npm, which comes with Node; `npm start` and `grange example` use it",
      run: () => versionOf("npm", (version) => ok(`npm ${version}`)),
    },
    {
      name: "git",
      needs: "Git is installed, in a version that reads repositories of strangers safely",
      fix: "Install Git 2.45 or later: apt-get install git, or https://git-scm.com",
      run: () =>
        versionOf("git", (text) => {
          const version = /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? "0";
          return judgeGit(version);
        }),
    },
    {
      name: "shell",
      needs: "/bin/sh runs commands",
      fix: "Jobs need /bin/sh. Install a shell there",
      run: async () => {
        const answer = await outputOf("/bin/sh", ["-c", "echo $((6 * 7))"]);
        return answer.trim() === "42" ? ok("/bin/sh works") : fail("/bin/sh does not work");
      },
    },
  ];
}

/**
 * The first patch of each series that supports GIT_NO_LAZY_FETCH. Source: release notes of Git 2.39.4 to 2.45.1
 * (CVE-2024-32004).
 */
const firstPatches: ReadonlyMap<number, number> = new Map([
  [39, 4],
  [40, 2],
  [41, 1],
  [42, 2],
  [43, 4],
  [44, 1],
]);

/**
 * With an older version, the configuration of a hostile repository could name a program that Git runs when it reads the
 * repository.
 */
export function judgeGit(version: string): ReturnType<typeof ok> {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const isSafe =
    major > 2 || (major === 2 && (minor >= 45 || patch >= (firstPatches.get(minor) ?? Infinity)));
  return isSafe
    ? ok(`git ${version}`)
    : warn(
        `git ${version} does not support GIT_NO_LAZY_FETCH, which prevents hostile repositories from running programs`,
        "Install git 2.39.4 or later (of newer series: 2.40.2, 2.41.1, 2.42.2, 2.43.4, 2.44.1, or 2.45)",
      );
}

async function versionOf(program: string, judge: (version: string) => ReturnType<typeof ok>) {
  try {
    return judge((await outputOf(program, ["--version"])).trim());
  } catch (reason) {
    return fail(messageOf(reason));
  }
}

function isAtLeast(version: string, floor: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > floor[0] || (major === floor[0] && minor >= floor[1]);
}
