import { environmentProperty } from "#core/platform.ts";
import type { ToolSettingsSource } from "./tool-settings.ts";

/**
 * So many at a time as Bazel would have run by itself, and others beside them that look for results, or send what they made. What runs
 * at once is bounded by the machine's CPUs and memory as before; Bazel counts who waits for a cache as a job as well.
 */
const jobs = "HOST_CPUS*4";

/**
 * A bazelrc that is read after all of the user's own. As Bazel 4 and later take it.
 *
 * The property makes the environment a part of each action's digest: of a compiler outside of the workspace Bazel knows the
 * path only. A platform that has properties of its own says by them where it builds; Bazel leaves ours out there.
 *
 * No retries: with Bazel's five of each call, a granary that is killed in mid-build costs each action that is left six
 * seconds (60 actions of 0.1 s: 80 to 104 s in place of 10). It is on this machine: who does not answer is gone.
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

/** Whether a bazelrc leads its builds to a remote cache, or to a farm, unasked: lines of a `--config` do not. */
export function namesRemoteCache(bazelrc: string): boolean {
  return /^\s*(?:common|build)\s(?:.*\s)?--remote_(?:cache|executor)[=\s]\s*['"]?[^\s'"]/m.test(
    bazelrc.replaceAll("\\\n", " "),
  );
}

/** What `--enable_platform_specific_config` asks for. */
const platforms = ["linux", "macos", "windows", "freebsd", "openbsd"];

/**
 * Whether bazelrc files say how many jobs there are: what we say is read after them, and would win.
 *
 * Lines of a `--config` count where another line asks for that; one that the command line asks for wins over ours.
 */
export function namesJobs(bazelrcs: string): boolean {
  const text = bazelrcs.replaceAll("\\\n", " ").replaceAll(/^\s*#.*$/gm, "");
  const asked = [...text.matchAll(/\s--config(?:=|\s+)['"]?([^\s'"]+)/g)].map(([, name]) => name);
  const counting = new Set([undefined, ...platforms, ...asked]);
  return [...text.matchAll(/^\s*[a-z]+(?::(\S+))?\s(?:.*\s)?(?:--jobs[=\s]|-j)/gm)].some(
    ([, config]) => counting.has(config),
  );
}
