import type { CacheTool } from "#api/tool-cache.ts";

/** What the lines depend on. */
export interface Farm {
  /** The address of the farm's pages: all else is served there, too. */
  readonly origin: string;
  readonly project: string;
  /** A token, or a word in its place; undefined where the farm asks for none. */
  readonly token: string | undefined;
}

/** Text for a file, or for a shell. */
export interface Lines {
  /** Where they go. */
  readonly where: string;
  readonly text: string;
}

/** How to point a tool at the farm. */
export interface Recipe {
  readonly tool: string;
  /** What the tool gets from it. */
  readonly gives: string;
  readonly lines: (farm: Farm) => readonly Lines[];
  /** What will be seen when it works. */
  readonly expect: string;
  /** By what its use is seen: entries of a cache, or invocations of a tool by its name's beginning; some tell nothing of themselves. */
  readonly seen:
    | { readonly cache: CacheTool }
    | { readonly invocationsOf: string }
    | { readonly nowhere: true };
}

/** As tools write a gRPC address: `grpc://host:port`, `grpcs://host:443`. */
export function grpcAddress(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === "https:";
  return `${secure ? "grpcs" : "grpc"}://${hostname}:${port || (secure ? "443" : "80")}`;
}

export function cacheUrl({ origin, project }: Farm, tool: CacheTool): string {
  return `${origin}/cache/${project.split("/").map(encodeURIComponent).join("/")}/${tool}`;
}

/** What stands before an invocation's id in the address of its page. */
function invocationsUrl({ origin, project }: Farm): string {
  return project === unnamed
    ? `${origin}/invocations/`
    : `${origin}/in/${encodeURIComponent(project)}/`;
}

/** The farm takes no instance for this project: tools need not be told of one. */
const unnamed = "default";

const joined = (...lines: readonly (string | false | undefined)[]) =>
  `${lines.filter((line) => typeof line === "string").join("\n")}\n`;

const orNone = (value: string | undefined, line: (value: string) => string) =>
  value === undefined ? undefined : line(value);

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

/** The lines are what `npm test` gives to the tools that can be had there. */
export const recipes = {
  "bazel-remote": {
    tool: "Bazel, remote execution",
    gives: "Actions run on the farm's workers, each once for everybody.",
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
      "Bazel prints a link to its invocation here. A second build after `bazel clean` has only remote cache hits. Bazel 4.2 does not know `--bes_header`: leave that line out.",
    seen: { invocationsOf: "bazel" },
  },
  "bazel-cache": {
    tool: "Bazel, cache over gRPC",
    gives: "Actions run where Bazel runs, and their results are shared.",
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
    gives: "The same where gRPC cannot pass, such as behind a proxy for HTTP/1.1.",
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
    gives: "Each build gets a page here, with its targets, tests and log; nothing else changes.",
    lines: (farm) => [
      {
        where: bazelrc,
        text: joined(...bazelEvents(farm), ...bazelHeader(farm, "bes_header")),
      },
      useOfBazel,
    ],
    expect:
      "Bazel prints a link to its invocation here. Bazel 4.2 does not know `--bes_header`: leave that line out.",
    seen: { invocationsOf: "bazel" },
  },
  ccache: {
    tool: "ccache",
    gives: "Compilations of C and C++ are shared. Needs ccache 4.7 or later.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          farm.origin.startsWith("https:") &&
            "# ccache speaks no TLS: write the address of a proxy on this machine that does.",
          `export CCACHE_REMOTE_STORAGE="${[
            cacheUrl(farm, "ccache"),
            ...(farm.token === undefined ? [] : [`bearer-token=${farm.token}`]),
          ].join("|")}"`,
          "ccache gcc -c hello.c",
          "ccache --show-stats --verbose",
        ),
      },
    ],
    expect: "`ccache --show-stats` counts remote storage hits; an empty local cache loses nothing.",
    seen: { cache: "ccache" },
  },
  sccache: {
    tool: "sccache",
    gives:
      "Compilations of Rust, C and C++ are shared. Needs an sccache that is built with WebDAV.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export SCCACHE_WEBDAV_ENDPOINT=${cacheUrl(farm, "sccache")}`,
          orNone(farm.token, (token) => `export SCCACHE_WEBDAV_TOKEN=${token}`),
          "export RUSTC_WRAPPER=sccache CARGO_INCREMENTAL=0",
          "sccache --stop-server; cargo build",
          "sccache --show-stats",
        ),
      },
    ],
    expect: "`sccache --show-stats` names WebDAV as its cache location, and counts hits.",
    seen: { cache: "sccache" },
  },
  turborepo: {
    tool: "Turborepo",
    gives: "Tasks whose inputs are known are not run again, on any machine.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export TURBO_API=${cacheUrl(farm, "turborepo")}`,
          // Turborepo asks no cache without these two. The farm takes `none` for no token.
          `export TURBO_TOKEN=${farm.token ?? "none"}`,
          "export TURBO_TEAM=grange",
          "npx turbo run build",
        ),
      },
    ],
    expect: "Turborepo says `Remote caching enabled`, and `FULL TURBO` the second time.",
    seen: { cache: "turborepo" },
  },
  nx: {
    tool: "Nx",
    gives: "Tasks whose inputs are known are not run again. Needs Nx 20.8 or later.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export NX_SELF_HOSTED_REMOTE_CACHE_SERVER=${cacheUrl(farm, "nx")}`,
          // Nx asks without a token, too; a word in its place would be a wrong one.
          orNone(farm.token, (token) => `export NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN=${token}`),
          "npx nx run-many -t build",
        ),
      },
    ],
    expect: "The second time, with an empty local cache, Nx marks tasks as [remote cache].",
    seen: { cache: "nx" },
  },
  gradle: {
    tool: "Gradle",
    gives: "Tasks whose inputs are known are not run again, on any machine.",
    lines: (farm) => [
      {
        where: "settings.gradle",
        text: joined(
          "buildCache {",
          "  remote(HttpBuildCache) {",
          `    url = "${cacheUrl(farm, "gradle")}/"`,
          "    push = true",
          // Gradle before 6 does not know it, and later ones refuse plain HTTP without it.
          farm.origin.startsWith("http:") &&
            '    if (delegate.hasProperty("allowInsecureProtocol")) allowInsecureProtocol = true',
          ...(farm.token === undefined
            ? []
            : [
                "    credentials {",
                '      username = "grange"',
                `      password = "${farm.token}"`,
                "    }",
              ]),
          "  }",
          "}",
        ),
      },
      { where: "shell", text: "./gradlew --build-cache build\n" },
    ],
    expect: "After `gradle clean`, tasks are FROM-CACHE. `--offline` turns the cache off.",
    seen: { cache: "gradle" },
  },
  buck2: {
    tool: "Buck2",
    gives: "Actions run on the farm's workers, where the execution platform allows it.",
    lines: (farm) => [
      {
        where: ".buckconfig",
        text: joined(
          "[buck2]",
          "digest_algorithms = SHA256",
          "",
          "[buck2_re_client]",
          ...["engine_address", "action_cache_address", "cas_address"].map(
            (key) => `${key} = ${grpcAddress(farm.origin)}`,
          ),
          `tls = ${farm.origin.startsWith("https:")}`,
          farm.project !== unnamed && `instance_name = ${farm.project}`,
          orNone(farm.token, (token) => `http_headers = authorization: Bearer ${token}`),
        ),
      },
      {
        where: "the execution platform's CommandExecutorConfig",
        text: "remote_enabled = True,\nlocal_enabled = True,\nuse_limited_hybrid = False,\n",
      },
    ],
    expect: "`buck2 build --remote-only //...` ends without local commands.",
    seen: { invocationsOf: "buck2" },
  },
  pants: {
    tool: "Pants",
    gives:
      "Results are shared; with the lines about execution, processes run on the farm's workers.",
    lines: (farm) => [
      {
        where: "pants.toml",
        text: joined(
          "[GLOBAL]",
          "remote_cache_read = true",
          "remote_cache_write = true",
          `remote_store_address = "${grpcAddress(farm.origin)}"`,
          farm.project !== unnamed && `remote_instance_name = "${farm.project}"`,
          orNone(
            farm.token,
            (token) => `remote_store_headers = { "authorization" = "Bearer ${token}" }`,
          ),
          "# To run processes on the farm's workers, too:",
          "# remote_execution = true",
          `# remote_execution_address = "${grpcAddress(farm.origin)}"`,
          orNone(
            farm.token,
            (token) => `# remote_execution_headers = { "authorization" = "Bearer ${token}" }`,
          ),
        ),
      },
    ],
    expect: "`pants --no-local-cache test ::` the second time takes its results from the cache.",
    seen: { invocationsOf: "pants" },
  },
  recc: {
    tool: "recc",
    gives:
      "Compilations run on the farm's workers, one by one, without a build tool that knows of it.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export RECC_SERVER=${farm.origin}`,
          farm.project !== unnamed && `export RECC_INSTANCE=${farm.project}`,
          'export RECC_PROJECT_ROOT="$PWD"',
          ...(farm.token === undefined ? [] : accessTokenFile(farm)),
          orNone(farm.token, () => 'export RECC_ACCESS_TOKEN_PATH="$HOME/.grange-token"'),
          "recc gcc -c hello.c -o hello.o",
        ),
      },
    ],
    expect: "The object file is there, and the invocation here counts a hit or an execution.",
    seen: { invocationsOf: "recc" },
  },
  moon: {
    tool: "moon",
    gives: "Outputs of tasks are shared between machines.",
    lines: (farm) => [
      {
        where: ".moon/workspace.yml",
        text: joined(
          "remote:",
          `  host: '${grpcAddress(farm.origin)}'`,
          ...(farm.token === undefined ? [] : ["  auth:", "    token: 'GRANGE_TOKEN'"]),
          "  cache:",
          "    compression: 'zstd'",
          `    instanceName: '${farm.project}'`,
        ),
      },
      {
        where: "shell",
        text: joined(
          orNone(farm.token, (token) => `export GRANGE_TOKEN=${token}`),
          "moon run :build",
        ),
      },
    ],
    expect:
      "With an empty `.moon/cache`, tasks are cached from remote. A refused moon goes on without the farm, and says nothing: `moon --log debug run :build` tells.",
    seen: { nowhere: true },
  },
  trexe: {
    tool: "trexe",
    gives: "One command runs on a worker, from a shell: the quickest way to try remote execution.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          "mkdir -p in && echo hello > in/word.txt",
          ...(farm.token === undefined ? [] : accessTokenFile(farm)),
          [
            `trexe --remote=${farm.origin}`,
            ...(farm.project === unnamed ? [] : [`--instance=${farm.project}`]),
            ...(farm.token === undefined ? [] : ['--access-token="$HOME/.grange-token"']),
            // Without an id it would be no invocation, and have no page.
            "--tool-invocation-id=try-$(date +%s)",
            "--input-path=in --output-path=out.txt --d=out",
            `/bin/sh -c "cat word.txt > out.txt"`,
          ].join(" \\\n  "),
          "cat out/out.txt",
        ),
      },
    ],
    expect: "`hello`.",
    seen: { invocationsOf: "trexe" },
  },
} as const satisfies Readonly<Record<string, Recipe>>;

/** These two read the token from a file, and send it over TLS only. */
function accessTokenFile({ token }: Farm): string[] {
  return [`(umask 077; printf %s '${token ?? ""}' > "$HOME/.grange-token")`];
}

export type RecipeName = keyof typeof recipes;

export const recipeNames = Object.keys(recipes) as RecipeName[];
