import { join } from "node:path";
import { type Sandbox, withExactEnvironment } from "../sandbox.ts";
import type { SandboxKind } from "../sandbox-kind.ts";

/** No isolation: the process sees the whole machine, and has its own process group. */
const noSandbox: Sandbox = {
  kind: "none",
  isolates: false,
  runsImages: false,
  ownPids: false,
  ownProc: false,
  placesOf: (places) => places,
  commandLine: ({ root, workingDirectory, environment, arguments: argv }) => {
    const enter = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", join(root, workingDirectory)];
    return [...enter, ...withExactEnvironment(argv, environment)];
  },
};

export const noSandboxKind: SandboxKind = {
  kind: "none",
  open: async () => [{ name: "none", sandbox: noSandbox }],
};
