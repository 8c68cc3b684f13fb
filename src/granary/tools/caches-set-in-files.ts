import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { namesRemoteCache } from "./bazel-settings.ts";
import type { BazelrcFile } from "./bazelrc-files.ts";
import type { GuidedTool, Variables } from "./tool-settings.ts";

/**
 * Returns the tools whose own files name a remote cache: Grange's variables and files would replace
 * that cache.
 */
export function cachesSetInFiles(
  bazelrcs: readonly BazelrcFile[],
  variables: Variables,
): Partial<Record<GuidedTool, string>> {
  const home = variables["HOME"] || homedir();
  const ccache = firstThat(ccacheFiles(variables, home), (text) =>
    /^\s*(?:remote|secondary)_storage\s*=\s*\S/m.test(text),
  );
  const bazel = bazelrcs.find(({ text }) => namesRemoteCache(text))?.path;
  const gocache = firstThat(goFiles(variables, home), (text) => /^GOCACHEPROG=\S/m.test(text));
  return {
    ...(ccache && { ccache }),
    ...(bazel && { bazel }),
    ...(gocache && { gocache }),
  };
}

/**
 * Returns whether a file of ccache sets how it identifies compilers: Grange's variable would
 * replace that setting.
 */
export function compilerCheckInFile(variables: Variables): boolean {
  const files = ccacheFiles(variables, variables["HOME"] || homedir());
  return firstThat(files, (text) => /^\s*compiler_check\s*=\s*\S/m.test(text)) !== undefined;
}

/** The files that ccache reads: https://ccache.dev/manual/4.7.5.html#_configuration */
function ccacheFiles(variables: Variables, home: string): string[] {
  const configured = variables["CCACHE_CONFIGPATH"];
  if (configured) return [configured];
  const directory = variables["CCACHE_DIR"];
  const config = variables["XDG_CONFIG_HOME"] || join(home, ".config");
  return [
    ...(directory ? [join(directory, "ccache.conf")] : []),
    join(home, ".ccache", "ccache.conf"),
    join(config, "ccache", "ccache.conf"),
    "/etc/ccache.conf",
  ];
}

/** The file that `go env -w` writes. */
function goFiles(variables: Variables, home: string): string[] {
  const configured = variables["GOENV"];
  if (configured === "off") return [];
  const config = variables["XDG_CONFIG_HOME"] || join(home, ".config");
  return [configured || join(config, "go", "env")];
}

function firstThat(files: readonly string[], says: (text: string) => boolean): string | undefined {
  return files.find((file) => says(textOf(file)));
}

function textOf(file: string): string {
  // The check avoids an exception, which costs more than the check, and most of these files do not
  // exist.
  if (!existsSync(file)) return "";
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
