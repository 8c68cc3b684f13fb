import { spawnSync } from "node:child_process";
import type { Need } from "./needs.ts";

/** A Go that starts the program of GOCACHEPROG. Debian 12 has an older one. */
export const goNeed: Need = {
  name: "Go 1.24 or later",
  missing: whyMissing(),
  remedy: { kind: "machine" },
};

function whyMissing(): string | undefined {
  const { stdout, error } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8" });
  if (error !== undefined) return "not installed: go";
  const [, major = "0", minor = "0"] = /^go(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isNew = Number(major) > 1 || Number(minor) >= 24;
  return isNew ? undefined : `${stdout.trim()} is older`;
}
