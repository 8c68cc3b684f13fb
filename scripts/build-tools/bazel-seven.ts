import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { exactly, type Row } from "../../bench/show/row.ts";
import { processesIn } from "../../test/build-tools/bazel.ts";
import { sampleSources } from "../../test/build-tools/bazel-workspace.ts";
import { type Farm, startFarm } from "../../test/support/farm.ts";
import { persistentActions, persistentPackage } from "./persistent-tool.ts";
import { printRows } from "./print-rows.ts";
import { openChroot, type SidChroot, whyNoChroot } from "./sid-chroot.ts";

const installed = "/usr/share/bazel";

/** Debian's newest Bazel has matching rules, except Java's, whose tools are not packaged. */
const workspaceFile = Object.entries({
  rules_cc: "rules/cc",
  rules_java: "rules/java",
  rules_proto: "rules/proto",
  rules_python: "rules/python",
  rules_license: "rules/license",
  platforms: "tools/platforms",
  bazel_skylib: "tools/skylib",
  bazel_features: "tools/features",
})
  .map(([name, path]) => `local_repository(name = "${name}", path = "${installed}/${path}")\n`)
  .join("");

const always = [
  "--noenable_bzlmod --enable_workspace --nosandbox_debug --incompatible_strict_action_env",
  "--nozip_undeclared_test_outputs --curses=no --color=no --show_progress_rate_limit=10",
].join(" ");

// Debian's Bazel searches for zstd at the wrong path.
const withZstd =
  "--host_jvm_args=-Djava.library.path=/usr/lib/$(uname -m)-linux-gnu:/usr/share/bazel";
const portable = "//gen/... //trees/... //shell/...";

interface Way {
  readonly name: string;
  readonly startup?: string;
  readonly targets: string;
  readonly flags: (address: string) => string;
  /** Bazel's counter of actions that are not answered from the cache. */
  readonly kind: string;
}

const remote = (address: string, instance: string) =>
  `--remote_executor=${address} --remote_instance_name=${instance} --spawn_strategy=remote --strategy=TestRunner=remote --strategy=Genrule=remote --jobs=8`;

const ways: readonly Way[] = [
  {
    name: "the cache, compressed",
    targets: `${portable} //cc/...`,
    flags: (address) =>
      `--remote_cache=${address} --remote_instance_name=seven --remote_cache_compression --experimental_remote_cache_compression_threshold=0`,
    kind: "processwrapper-sandbox",
  },
  {
    name: "execution, build events, compressed",
    targets: portable,
    flags: (address) =>
      `${remote(address, "seven-executes")} --remote_cache_compression --experimental_remote_cache_compression_threshold=0 --bes_backend=${address} --bes_instance_name=seven-executes`,
    kind: "remote",
  },
  {
    name: "the cache, by BLAKE3",
    startup: "--digest_function=BLAKE3",
    targets: `${portable} //cc/...`,
    flags: (address) => `--remote_cache=${address} --remote_instance_name=seven-blake3`,
    kind: "processwrapper-sandbox",
  },
  {
    name: "execution, by BLAKE3",
    startup: "--digest_function=BLAKE3",
    targets: portable,
    flags: (address) => remote(address, "seven-executes-blake3"),
    kind: "remote",
  },
];

const bazel = `bazel --nohome_rc --output_user_root=$HOME/out --max_idle_secs=60 ${withZstd}`;

/** Bazel 7 with a farm, in each mode: successful, and after `bazel clean` completely from the cache. */
export async function bazelSeven(): Promise<Row[]> {
  const chroot = await openChroot();
  const farm = await startFarm({ workers: 0 });
  try {
    // Only actions that ask for a persistent worker have one.
    for (const name of ["one", "two"])
      farm.startWorker({ name, env: { GRANGE_WORKER_PERSISTENT_WORKERS: "4" } });
    await layOut(chroot);
    const rows: Row[] = [];
    for (const way of ways) rows.push(...(await twice(chroot, farm, way)));
    return [...rows, await persistentWorkers(chroot, farm)];
  } finally {
    await chroot.start(`cd sample; ${bazel} shutdown`).finished;
    await farm.stop();
    await chroot.remove();
  }
}

async function layOut(chroot: SidChroot): Promise<void> {
  const files = Object.entries(sampleSources).filter(([name]) =>
    /^(gen|trees|shell|cc)\//.test(name),
  );
  const others = Object.entries({ ...persistentPackage, WORKSPACE: workspaceFile });
  for (const [name, content] of [...files, ...others]) {
    await mkdir(dirname(join(chroot.root, chroot.work, "sample", name)), { recursive: true });
    await chroot.write(join("sample", name), content);
  }
  await chroot.run("chmod +x sample/shell/*.sh sample/persistent/tool.py");
}

/** Bazel names the key and marks the tools; one process of each worker serves all actions. */
async function persistentWorkers(chroot: SidChroot, farm: Farm): Promise<Row> {
  const address = farm.url.replace("http:", "grpc:");
  const flags = `${remote(address, "seven-persistent")} --experimental_remote_mark_tool_inputs`;
  const script = `cd sample; ${bazel} build //persistent/... ${always} ${flags} 2>&1; cat bazel-bin/persistent/*.txt`;
  const { stdout } = await chroot.start(script).finished;
  const served = stdout.match(/^source \d+, 1 source, persistent$/gm) ?? [];
  if (served.length !== persistentActions) process.stderr.write(stdout);
  return exactly(
    "Bazel 7 and persistent workers",
    served.length,
    persistentActions,
    "actions",
    `bazel build ${flags.replace(address, "grpc://FARM")}; each with its own source alone`,
  );
}

async function twice(chroot: SidChroot, farm: Farm, way: Way): Promise<Row[]> {
  const { name, startup = "", targets, flags, kind } = way;
  const address = farm.url.replace("http:", "grpc:");
  const once = async () => {
    const script = `cd sample; ${bazel} ${startup} clean >/dev/null 2>&1; ${bazel} ${startup} test ${targets} ${always} ${flags(address)} 2>&1`;
    const { code, stdout } = await chroot.start(script).finished;
    return { code, text: stdout, processes: processesIn(stdout) };
  };
  const first = await once();
  const second = await once();
  const { internal: _, "remote cache hit": hits = 0, ...others } = second.processes;
  const done = first.processes[kind] ?? 0;
  if (first.code !== 0) process.stderr.write(first.text);
  else if (second.code !== 0 || Object.keys(others).length > 0) process.stderr.write(second.text);
  const how = `bazel test ${targets} ${startup} ${flags("grpc://FARM")}`;
  return [
    exactly(`Bazel 7 and ${name}`, first.code ?? -1, 0, "exit code", how),
    exactly(
      `Bazel 7 and ${name}: again after bazel clean`,
      `${hits} hits, ${Object.values(others).reduce((sum, each) => sum + each, 0)} others`,
      // A first build without work would make the second meaningless.
      `${done || "some"} hits, 0 others`,
      "",
      how,
    ),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await printRows("Bazel 7's builds", whyNoChroot(), bazelSeven);
}
