import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { runProgram } from "../../support/process.ts";
import { hashOf, type ToolDriver } from "./tool-driver.ts";

const units = [1, 2, 3, 4, 5];
/** Debian's stable sccache has no WebDAV: this one is in a separate root directory and runs with chroot. */
const chroot = process.env["GRANGE_TEST_CHROOT"] ?? "";

export const sccache: ToolDriver = {
  name: "sccache (WebDAV)",
  ...(chroot === "" ? {} : { root: join(chroot, "tmp") }),
  need: {
    name: "sccache",
    missing:
      chroot !== "" && existsSync(join(chroot, "usr/bin/sccache"))
        ? undefined
        : "GRANGE_TEST_CHROOT names no Debian tree with sccache 0.17 and gcc",
    remedy: { kind: "machine" },
  },
  async prepare(dir) {
    for (const n of units) {
      await writeFile(join(dir, `unit${n}.c`), `int unit${n}(int a) { return a * ${n}; }\n`);
    }
  },
  async build(dir, cache, token) {
    const objects = units.map((n) => `unit${n}.o`);
    for (const object of objects) await rm(join(dir, object), { force: true });
    const compile = units
      .map((n) => `sccache gcc -c unit${n}.c -o unit${n}.o || code=$?`)
      .join("\n");
    // Its server must not outlive the build, because a server of another build would have other settings.
    const script = `cd ${dir.slice(chroot.length)}\ncode=0\n${compile}\nsccache --show-stats --stats-format=json\nsccache --stop-server >/dev/null 2>&1\nexit $code`;
    const env = {
      HOME: dir.slice(chroot.length),
      SCCACHE_WEBDAV_ENDPOINT: `${cache}/sccache`,
      SCCACHE_WEBDAV_TOKEN: token,
      SCCACHE_SERVER_PORT: String(await freePort()),
      SCCACHE_IDLE_TIMEOUT: "60",
    };
    const { code, stdout, stderr } = await runProgram("chroot", [chroot, "sh", "-c", script], {
      env,
    });
    const count = (what: string) =>
      [
        ...(new RegExp(`"${what}":\\{"counts":\\{([^}]*)\\}`)
          .exec(stdout)?.[1]
          ?.matchAll(/:(\d+)/g) ?? []),
      ].reduce((sum, [, n]) => sum + Number(n), 0);
    return {
      code,
      hits: count("cache_hits"),
      misses: count("cache_misses"),
      outputs: await hashOf(dir, objects),
      said: stderr,
    };
  },
};

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
