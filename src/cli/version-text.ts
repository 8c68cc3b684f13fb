/** scripts/program-bundles.mjs defines both; neither exists when sources run without a build. */
declare const grangeVersion: string | undefined;
declare const grangeCommit: string | undefined;

/** The version of a built program, from package.json. */
export const builtVersion = typeof grangeVersion === "string" ? grangeVersion : "unknown";

const commit = typeof grangeCommit === "string" ? `commit ${grangeCommit}` : "unbuilt sources";

/** Returns the output of `--version`: `0.1.0 (commit 0123456789)`. */
export function versionText(version: string): string {
  return `${version} (${commit})`;
}
