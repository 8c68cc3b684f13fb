import { environmentProperty } from "#core/platform.ts";
import type { ToolSettingsSource } from "./tool-settings.ts";

/**
 * The number of jobs that Bazel runs by default, plus jobs that look for results or upload them. The CPUs and memory of
 * the machine still limit what runs at the same time; Bazel also counts actions that wait for a cache as jobs.
 */
const jobs = "HOST_CPUS*4";

/**
 * Returns a bazelrc that is read after all of the user's own, for Bazel 4 and later.
 *
 * The property makes the environment a part of each action's digest, because Bazel knows only the path of a compiler
 * outside the workspace. A platform with its own properties identifies its environment by them; Bazel ignores this
 * property there.
 *
 * Retries are off. With Bazel's default of five for each call, a granary that is killed during a build costs each
 * remaining action six seconds (60 actions of 0.1 s: 80 to 104 s instead of 10). The granary is on this machine, so a
 * granary that does not answer has ended.
 */
export function bazelrcText(
  { port, build, project, environment }: ToolSettingsSource,
  setsJobs: boolean,
): string {
  return [
    `build --remote_cache=grpc://127.0.0.1:${port}`,
    `build --remote_instance_name=${project}`,
    `build --remote_header=x-grange-build=${build}`,
    "build --remote_retries=0",
    ...(environment === undefined
      ? []
      : [`build --remote_default_exec_properties=${environmentProperty}=${environment}`]),
    ...(setsJobs ? [`build --jobs=${jobs}`] : []),
    "",
  ].join("\n");
}

/**
 * Returns whether a bazelrc sets a remote cache or a remote executor for all builds. Lines of a `--config` do not
 * count.
 */
export function namesRemoteCache(bazelrc: string): boolean {
  return /^\s*(?:common|build)\s(?:.*\s)?--remote_(?:cache|executor)[=\s]\s*['"]?[^\s'"]/m.test(
    bazelrc.replaceAll("\\\n", " "),
  );
}

/** The platforms of `--enable_platform_specific_config`. */
const platforms = ["linux", "macos", "windows", "freebsd", "openbsd"];

/**
 * Returns whether bazelrc files set the number of jobs: Grange's value is read after them and would replace theirs.
 *
 * Lines of a `--config` count when another line requests that config; a config of the command line replaces Grange's
 * value anyway.
 */
export function namesJobs(bazelrcs: string): boolean {
  const text = bazelrcs.replaceAll("\\\n", " ").replaceAll(/^\s*#.*$/gm, "");
  const configs = [...text.matchAll(/\s--config(?:=|\s+)['"]?([^\s'"]+)/g)].map(([, name]) => name);
  const counting = new Set([undefined, ...platforms, ...configs]);
  return [...text.matchAll(/^\s*[a-z]+(?::(\S+))?\s(?:.*\s)?(?:--jobs[=\s]|-j)/gm)].some(
    ([, config]) => counting.has(config),
  );
}
