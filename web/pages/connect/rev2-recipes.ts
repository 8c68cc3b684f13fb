import { type Farm, grpcAddress, joined, orNone, type Recipe, unnamed } from "./recipe.ts";

/** Other clients of the Remote Execution API. */
export const rev2Recipes = {
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
          "# To also run processes on the farm's workers:",
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
    gives: "Each compilation runs as a separate action on the farm's workers, with any build tool.",
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
    expect: "The object file exists, and the invocation here counts a hit or an execution.",
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
      "With an empty `.moon/cache`, tasks are cached from remote. If the farm refuses moon, moon continues without the farm and prints nothing: `moon --log debug run :build` shows the reason.",
    seen: { nowhere: true },
  },
  buildstream: {
    tool: "BuildStream",
    gives: "Artifacts and sources of elements are shared between machines. Needs BuildStream 2.",
    lines: (farm) => [
      {
        where: "~/.config/buildstream.conf",
        text: joined(...["artifacts", "source-caches"].flatMap((caches) => serverOf(caches, farm))),
      },
      ...(farm.token === undefined
        ? []
        : [{ where: "shell", text: joined(...accessTokenFile(farm)) }]),
      { where: "shell", text: "bst build ELEMENT.bst\n" },
    ],
    expect: "On a second machine, `bst artifact pull ELEMENT.bst` prints `Pulled artifact`.",
    seen: { cache: "remote-asset" },
  },
  trexe: {
    tool: "trexe",
    gives:
      "Runs one command on a worker, from a shell. This is the quickest way to try remote execution.",
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
            // Without an id it would not be an invocation, and have no page.
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

/** Returns the lines of BuildStream's configuration that name the farm as the server of a kind of caches. */
function serverOf(caches: string, { origin, project, token }: Farm): string[] {
  return [
    `${caches}:`,
    "  servers:",
    `  - url: ${origin}`,
    `    instance-name: ${project}`,
    "    push: true",
    ...(token === undefined ? [] : ["    auth:", "      access-token: ~/.grange-token"]),
  ];
}

/** These tools read the token from a file, and send it over TLS only. */
function accessTokenFile({ token }: Farm): string[] {
  return [`(umask 077; printf %s '${token ?? ""}' > "$HOME/.grange-token")`];
}
