import type { ToolSettingsSource } from "./tool-settings.ts";

/** A bazelrc that is read after all of the user's own. As Bazel 4 and later take it. */
export function bazelrcText({ port, build, project }: ToolSettingsSource): string {
  return [
    `build --remote_cache=grpc://127.0.0.1:${port}`,
    `build --remote_instance_name=${project}`,
    `build --remote_header=x-grange-build=${build}`,
    "",
  ].join("\n");
}

/** Whether a bazelrc leads its builds to a remote cache, or to a farm, unasked: lines of a `--config` do not. */
export function namesRemoteCache(bazelrc: string): boolean {
  return /^\s*(?:common|build)\s(?:.*\s)?--remote_(?:cache|executor)[=\s]\s*['"]?[^\s'"]/m.test(
    bazelrc.replaceAll("\\\n", " "),
  );
}
