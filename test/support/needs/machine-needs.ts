import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { flockProgram } from "#machine/flock-program.ts";
import type { Need } from "./needs.ts";
import { programs } from "./program.ts";

export const ccache = programs("ccache", {
  programs: ["ccache", "gcc"],
  packages: ["ccache", "gcc", "libc6-dev"],
});

export const ccacheProjectTools = programs("a C++ project built with ccache", {
  programs: ["ccache", "g++", "make"],
  packages: ["ccache", "g++", "make"],
});

export const curl = programs("curl", { programs: ["curl"], packages: ["curl"] });

export const gradle = programs("Gradle", { programs: ["gradle"], packages: ["gradle"] });

export const bubblewrap = programs("bubblewrap", {
  programs: ["bwrap"],
  packages: ["bubblewrap"],
});

/** GNU time, which reports memory; the shell's own `time` does not. */
export const gnuTime = programs("GNU time", { programs: ["time"], packages: ["time"] });

/** Debian's version: jobs do not see one in a home directory. */
export const python3: Need = {
  name: "Python 3",
  missing: existsSync("/usr/bin/python3") ? undefined : "not installed: /usr/bin/python3",
  remedy: { kind: "debian", packages: ["python3"] },
};

export const root: Need = {
  name: "root",
  missing: process.getuid?.() === 0 ? undefined : "this is an ordinary user",
  remedy: { kind: "root" },
};

export const linux: Need = {
  name: "Linux",
  missing: process.platform === "linux" ? undefined : `this is ${process.platform}`,
  remedy: { kind: "machine" },
};

/** A machine for which Grange has a program that locks open files. */
export const lockingMachine: Need = {
  name: "a Linux whose architecture has a locking program",
  missing:
    process.platform === "linux" && flockProgram(process.arch)
      ? undefined
      : `this is ${process.platform} on ${process.arch}`,
  remedy: { kind: "machine" },
};

/** A file system other than that of temporary files. */
export const secondFileSystem: Need = {
  name: "a second file system at /dev/shm",
  missing:
    existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev
      ? undefined
      : "/dev/shm is not there, or the same file system",
  remedy: { kind: "machine" },
};

/**
 * Returns the need for a sandbox; `facility` is the worker's own report, such as "none, since …".
 */
export function sandboxNeed(facility: string): Need {
  return {
    name: "a sandbox for jobs",
    missing: facility.startsWith("none") ? facility : undefined,
    remedy: { kind: "debian", packages: ["bubblewrap"] },
  };
}
