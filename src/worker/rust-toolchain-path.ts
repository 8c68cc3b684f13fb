import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns a search path on which rustup's default toolchain comes before rustup's proxies.
 *
 * The proxies in ~/.cargo/bin look for the toolchain in the user's home, but a job has its own home: there they fail
 * with "rustup could not choose a version of cargo to run". The toolchain's own programs need no home. A repository's
 * `rust-toolchain.toml` therefore does not choose the toolchain.
 */
export function withRustToolchain(
  searchPath: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const directories = searchPath.split(":");
  const proxies = directories.findIndex((directory) => existsSync(join(directory, "rustup")));
  const rustupHome = env["RUSTUP_HOME"] ?? (env["HOME"] && join(env["HOME"], ".rustup"));
  if (proxies < 0 || !rustupHome) return searchPath;
  const toolchain = env["RUSTUP_TOOLCHAIN"] ?? defaultToolchain(join(rustupHome, "settings.toml"));
  if (toolchain === undefined) return searchPath;
  const programs = join(rustupHome, "toolchains", toolchain, "bin");
  if (!existsSync(programs) || directories.includes(programs)) return searchPath;
  return directories.toSpliced(proxies, 0, programs).join(":");
}

function defaultToolchain(settingsFile: string): string | undefined {
  try {
    return /^default_toolchain\s*=\s*"([^"/]+)"/m.exec(readFileSync(settingsFile, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}
