import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Need } from "./needs.ts";

/** Returns where a program is, by the PATH, or where Debian has those of administrators. */
export function findProgram(name: string): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...path, "/usr/sbin", "/sbin"]
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file));
}

/** Returns the need of programs, by their names, and the Debian packages that have them. */
export function programs(
  name: string,
  of: { readonly programs: readonly string[]; readonly packages: readonly string[] },
): Need {
  const absent = of.programs.filter((each) => findProgram(each) === undefined);
  return {
    name,
    missing: absent.length === 0 ? undefined : `not installed: ${absent.join(", ")}`,
    remedy: { kind: "debian", packages: of.packages },
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
