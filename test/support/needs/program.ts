import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Need } from "./needs.ts";

/** Returns the path of a program, from the PATH or from Debian's directories for administrators. */
export function findProgram(name: string): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...path, "/usr/sbin", "/sbin"]
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file));
}

/** Returns the need for programs, by their names, with the Debian packages that contain them. */
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
