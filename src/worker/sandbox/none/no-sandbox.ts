import { join } from "node:path";
import { type Sandbox, withExactEnvironment } from "./sandbox.ts";

/** No isolation: the process sees the machine, in a process group of its own. */
export const noSandbox: Sandbox = {
  kind: "none",
  ownPids: false,
  placesOf: (places) => places,
  commandLine: ({ root, workingDirectory, environment, arguments: argv }) => {
    const enter = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", join(root, workingDirectory)];
    return [...enter, ...withExactEnvironment(argv, environment)];
  },
};
