import { readFileSync } from "node:fs";
import { findProgram } from "../../../test/support/needs/program.ts";

/** Returns the entries of a layer with BusyBox under the names of some programs, and as a shell. */
export function busyboxFiles(names: readonly string[]) {
  return [
    {
      path: "bin/busybox",
      content: readFileSync(findProgram("busybox") ?? "/dev/null"),
      mode: 0o755,
    },
    ...["sh", ...names].map((name) => ({ path: `bin/${name}`, type: "2", target: "busybox" })),
  ];
}
