import { join } from "node:path";
import { lookedUp, type Sandbox } from "./sandbox.ts";

/** No walls: the process sees the machine, in a process group of its own. */
export const noSandbox: Sandbox = {
  kind: "none",
  ownPids: false,
  placesOf: (places) => places,
  commandLine: ({ root, workingDirectory, environment, arguments: argv }) =>
    [
      ["sh", "-c", 'cd "$1" && shift && exec env -i "$@"', "sh", join(root, workingDirectory)],
      [...environment].map(([name, value]) => `${name}=${value}`),
      lookedUp(argv),
    ].flat(),
};
