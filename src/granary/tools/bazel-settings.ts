import type { ToolSettingsSource } from "./tool-settings.ts";

/**
 * A bazelrc that is read after all of the user's own. As Bazel 4 and later take it.
 *
 * No retries: with Bazel's five of each call, a granary that is killed in mid-build costs each action that is left six
 * seconds (60 actions of 0.1 s: 80 to 104 s in place of 10). It is on this machine: who does not answer is gone.
 */
export function bazelrcText({ port, build, project }: ToolSettingsSource): string {
  return [
    `build --remote_cache=grpc://127.0.0.1:${port}`,
    `build --remote_instance_name=${project}`,
    `build --remote_header=x-grange-build=${build}`,
    "build --remote_retries=0",
    "",
  ].join("\n");
}

/** Whether a bazelrc leads its builds to a remote cache, or to a farm, unasked: lines of a `--config` do not. */
export function namesRemoteCache(bazelrc: string): boolean {
  return /^\s*(?:common|build)\s(?:.*\s)?--remote_(?:cache|executor)[=\s]\s*['"]?[^\s'"]/m.test(
    bazelrc.replaceAll("\\\n", " "),
  );
}
