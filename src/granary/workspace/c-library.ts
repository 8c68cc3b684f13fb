import { execFile } from "node:child_process";

let known: Promise<string> | undefined;

/**
 * Returns the result of `cLibrary`, which runs once: starting a program for each build would cost more than missing a
 * rare upgrade.
 */
export function knownCLibrary(): Promise<string> {
  known ??= cLibrary();
  return known;
}

/**
 * Returns the C library that programs are linked with, as `glibc 2.36` or `musl libc 1.2.3`; "" when it cannot be
 * found.
 */
async function cLibrary(): Promise<string> {
  if (process.platform !== "linux") return "";
  const glibc = await said("getconf", "GNU_LIBC_VERSION");
  if (/^glibc [\d.]+$/.test(glibc)) return glibc;
  const [, version] = /musl libc[^]*?Version ([\d.]+)/.exec(await said("ldd", "--version")) ?? [];
  return version === undefined ? "" : `musl libc ${version}`;
}

const silenceLimitMs = 2_000;

/**
 * Returns the output of a program, on either stream and whatever its exit code: musl's ldd has no --version, and prints
 * its version with an error.
 */
function said(program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: silenceLimitMs, encoding: "utf8" }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.trim()),
    );
  });
}
