import {
  cacheUrl,
  type Farm,
  grpcAddress,
  invocationsUrl,
  joined,
  type Lines,
  type Recipe,
  unnamed,
} from "./recipe.ts";

const bazelrc = "~/.bazelrc, or .bazelrc in the workspace (without the token)";

const bazelHeader = ({ token }: Farm, ...flags: readonly string[]) =>
  token === undefined
    ? []
    : flags.map((flag) => `build:grange --${flag}="authorization=Bearer ${token}"`);

const bazelInstance = ({ project }: Farm, flag: string) =>
  project !== unnamed && `build:grange --${flag}=${project}`;

const bazelEvents = (farm: Farm) => [
  `build:grange --bes_backend=${grpcAddress(farm.origin)}`,
  `build:grange --bes_results_url=${invocationsUrl(farm)}`,
  bazelInstance(farm, "project_id"),
];

const useOfBazel: Lines = {
  where: "shell",
  text: "bazel build --config=grange --build_metadata=COMMIT_SHA=$(git rev-parse HEAD) //...\n",
};

/** Bazel, by the features of the farm that it uses. */
export const bazelRecipes = {
  "bazel-remote": {
    tool: "Bazel, remote execution",
    gives: "Actions run on the farm's workers. Each action runs only once for all users.",
    lines: (farm) => [
      {
        where: bazelrc,
        text: joined(
          `build:grange --remote_executor=${grpcAddress(farm.origin)}`,
          bazelInstance(farm, "remote_instance_name"),
          "build:grange --incompatible_strict_action_env",
          "build:grange --jobs=50",
          ...bazelEvents(farm),
          ...bazelHeader(farm, "remote_header", "bes_header"),
        ),
      },
      useOfBazel,
    ],
    expect:
      "Bazel prints a link to its invocation here. A second build after `bazel clean` has only remote cache hits. With a token, Bazel 4.2 reports `--bes_header` as unrecognized: omit that line. For compilers that serve several actions, start workers with `--persistent-workers 2`, and add `--experimental_remote_mark_tool_inputs` (Bazel 6 or later).",
    seen: { invocationsOf: "bazel" },
  },
  "bazel-cache": {
    tool: "Bazel, cache over gRPC",
    gives: "Actions run on the machine that runs Bazel, and their results are shared.",
    lines: (farm) => [
      {
        where: bazelrc,
        text: joined(
          `build:grange --remote_cache=${grpcAddress(farm.origin)}`,
          bazelInstance(farm, "remote_instance_name"),
          "build:grange --incompatible_strict_action_env",
          ...bazelEvents(farm),
          ...bazelHeader(farm, "remote_header", "bes_header"),
        ),
      },
      useOfBazel,
    ],
    expect: "A second build after `bazel clean` has only remote cache hits.",
    seen: { invocationsOf: "bazel" },
  },
  "bazel-http": {
    tool: "Bazel, cache over HTTP",
    gives:
      "The same cache, for networks where gRPC does not work, for example behind an HTTP/1.1 proxy.",
    lines: (farm) => [
      {
        where: bazelrc,
        text: joined(
          `build:grange --remote_cache=${cacheUrl(farm, "bazel")}`,
          "build:grange --incompatible_strict_action_env",
          ...bazelHeader(farm, "remote_header"),
        ),
      },
      { where: "shell", text: "bazel build --config=grange //...\n" },
    ],
    expect: "A second build after `bazel clean` has only remote cache hits.",
    seen: { cache: "bazel" },
  },
  "bazel-events": {
    tool: "Bazel, build events only",
    gives:
      "Each build gets a page here, with its targets, tests and log. Nothing else in the build changes.",
    lines: (farm) => [
      {
        where: bazelrc,
        text: joined(...bazelEvents(farm), ...bazelHeader(farm, "bes_header")),
      },
      useOfBazel,
    ],
    expect:
      "Bazel prints a link to its invocation here. With a token, Bazel 4.2 reports `--bes_header` as unrecognized: omit that line.",
    seen: { invocationsOf: "bazel" },
  },
} as const satisfies Readonly<Record<string, Recipe>>;
