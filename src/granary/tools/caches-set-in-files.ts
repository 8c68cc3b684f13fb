import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { namesRemoteCache } from "./bazel-settings.ts";
import type { BazelrcFile } from "./bazelrc-files.ts";
import type { GuidedTool, Variables } from "./tool-settings.ts";

/** Tools whose own files name a remote cache: our variables and files would win over them. */
export function cachesSetInFiles(
  bazelrcs: readonly BazelrcFile[],
  variables: Variables,
): Partial<Record<GuidedTool, string>> {
  const home = variables["HOME"] || homedir();
  const ccache = firstThat(ccacheFiles(variables, home), (text) =>
    /^\s*(?:remote|secondary)_storage\s*=\s*\S/m.test(text),
  );
  const bazel = bazelrcs.find(({ text }) => namesRemoteCache(text))?.path;
  return { ...(ccache && { ccache }), ...(bazel && { bazel }) };
}

/** Whether a file of ccache's says how it identifies compilers: our variable would win over it. */
export function compilerCheckInFile(variables: Variables): boolean {
  const files = ccacheFiles(variables, variables["HOME"] || homedir());
  return firstThat(files, (text) => /^\s*compiler_check\s*=\s*\S/m.test(text)) !== undefined;
}

/** Where ccache looks: https://ccache.dev/manual/4.7.5.html#_configuration */
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

function firstThat(files: readonly string[], says: (text: string) => boolean): string | undefined {
  return files.find((file) => says(textOf(file)));
}

function textOf(file: string): string {
  // An error costs more than the question, and most are not there.
  if (!existsSync(file)) return "";
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
