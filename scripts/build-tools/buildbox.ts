import { createServer } from "node:net";
import { pathToFileURL } from "node:url";
import { exactly, forInformation, type Row } from "../../bench/show/row.ts";
import { startFarm } from "../../test/support/farm.ts";
import { printRows } from "./print-rows.ts";
import { openChroot, type SidChroot, whyNoChroot } from "./sid-chroot.ts";

const batches = 4;
const actionsInBatch = 25;

/** A farm, compared with the server of these clients: both on one machine, both with two at once. */
export async function buildbox(): Promise<Row[]> {
  const chroot = await openChroot();
  const farm = await startFarm({ workers: 2 });
  const peer = await startCasd(chroot);
  try {
    await chroot.run("mkdir input; echo hi > input/x.txt");
    return [
      ...(await oneAction(chroot, farm.url)),
      ...(await manyActions(chroot, { farm: farm.url, peer: peer.url })),
      ...(await compilations(chroot, farm.url)),
      ...(await directories(chroot, farm.url)),
    ];
  } finally {
    peer.stop();
    await peer.finished;
    await farm.stop();
    await chroot.remove();
  }
}

async function startCasd(chroot: SidChroot) {
  const port = await freePort();
  const program = chroot.start(
    `exec buildbox-casd --bind=127.0.0.1:${port} --buildbox-run=/usr/bin/buildbox-run-hosttools --jobs=2 --quota-high=2G --log-level=info casd 2>&1`,
  );
  await program.line((line) => line.includes("listening") || line.includes("Server"));
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => program.signal("SIGTERM"),
    finished: program.finished,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

async function oneAction(chroot: SidChroot, url: string): Promise<Row[]> {
  const { stdout, stderr } = await chroot.run(
    `trexe --remote=${url} --instance=trexe --input-path=input --output-path=o.txt --d=made --priority=5 --target-id=//x --platform-properties=OSFamily=linux /bin/sh -c 'cat x.txt > o.txt; echo told; echo noted >&2'; cat made/o.txt`,
  );
  return [
    exactly(
      "trexe: an action with an input, an output and both streams",
      `${stdout.replaceAll("\n", " ").trim()}; ${stderr.trim()}`,
      "told hi; noted",
      "",
      "trexe --input-path --output-path --d --priority --target-id /bin/sh -c …",
    ),
  ];
}

/** One after the other, each a separate process: the case of a caller of single actions. */
async function manyActions(
  chroot: SidChroot,
  urls: { farm: string; peer: string },
): Promise<Row[]> {
  const batch = (url: string, instance: string) =>
    chroot.time(
      `for i in $(seq ${actionsInBatch}); do trexe --remote=${url} --instance=${instance} --input-path=input --skip-cache-lookup --do-not-cache /bin/true; done`,
    );
  await batch(urls.farm, "trexe");
  await batch(urls.peer, "");
  let ours = 0;
  let theirs = 0;
  for (let i = 0; i < batches; i++) {
    ours += await batch(urls.farm, "trexe");
    theirs += await batch(urls.peer, "");
  }
  const actions = batches * actionsInBatch;
  const how = `trexe --skip-cache-lookup --do-not-cache /bin/true, ${actions} one after the other, in ${batches} batches by turns; each a process of its own`;
  return [
    forInformation("trexe: an action on the farm", ours / actions, "ms", how),
    forInformation(
      "trexe: an action on buildbox-casd",
      theirs / actions,
      "ms",
      `${how}; without a sandbox, on two jobs at once`,
    ),
  ];
}

async function compilations(chroot: SidChroot, url: string): Promise<Row[]> {
  await chroot.write("a.c", '#include <stdio.h>\nint main(void) { return puts("hi") < 0; }\n');
  const recc = `RECC_SERVER=${url} RECC_INSTANCE=recc RECC_PROJECT_ROOT=$PWD RECC_LOG_LEVEL=info recc gcc -c a.c -o a.o`;
  const first = await timed(() => chroot.run(`${recc} 2>&1; test -s a.o; rm a.o`));
  const second = await timed(() => chroot.run(`${recc} 2>&1; test -s a.o`));
  const hits = (text: string) => (text.includes("Action Cache hit") ? "hit" : "miss");
  return [
    exactly(
      "recc: a compilation, and the same again",
      `${hits(first.result.stdout)}, ${hits(second.result.stdout)}`,
      "miss, hit",
      "",
      "recc gcc -c a.c -o a.o, twice",
    ),
    forInformation("recc: executed", first.ms, "ms", "recc gcc -c a.c -o a.o"),
    forInformation("recc: from the cache", second.ms, "ms", "the same again"),
  ];
}

async function directories(chroot: SidChroot, url: string): Promise<Row[]> {
  const from = "/usr/share/bazel/rules";
  const remote = `--remote=${url} --instance=directories`;
  const { stdout } = await chroot.run(`find ${from} -type f | wc -l`);
  const up = await chroot.time(`casupload ${remote} --output-digest-file=digest ${from}`);
  const down = await chroot.time(
    `casdownload ${remote} --root-digest=$(cat digest) --destination-dir=$PWD/down`,
  );
  const { code } = await chroot.start(`diff -r ${from} down`).finished;
  const how = `casupload and casdownload of ${stdout.trim()} files, then diff -r`;
  return [
    exactly("casupload, casdownload: the same comes back", code ?? -1, 0, "exit code", how),
    forInformation("casupload", up, "ms", how),
    forInformation("casdownload", down, "ms", how),
  ];
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedAt };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await printRows("the clients of buildbox", whyNoChroot(), buildbox);
}
