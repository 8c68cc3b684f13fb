import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skipWithout } from "../support/needs/needs.ts";
import { hostileBuilds, trying } from "./hostile-builds.ts";

// SLSA 1.2, Build L3, "Isolated": a build can access no secrets of the platform, such as the key that signs provenance.

const inTheEnvironment = "sentinel-of-the-platform-0815";
process.env["GRANGE_TEST_SENTINEL"] = inTheEnvironment;
const builds = hostileBuilds();

test("a build finds no secret of the farm: no key, no token, no secret of another branch", async (context) => {
  const { farm, build, sandboxNeed } = builds.current;
  skipWithout(context, sandboxNeed);
  const othersSecret = "what-only-releases-are-given";
  await farm.ask("/secrets", {
    name: "RELEASE_KEY",
    repository: "*",
    branch: "release",
    value: Buffer.from(othersSecret).toString("base64"),
  });
  const { token } = (await (await farm.ask("/tokens", { principal: "root" })).json()) as {
    token: string;
  };
  const keys = await Promise.all(
    ["farm.key", "secrets.key"].map((name) => readFile(join(farm.dataDir, name), "utf8")),
  );
  const looked = [
    // Files by their path, and by their name anywhere.
    `cat ${farm.dataDir}/*.key ${farm.dataDir}/pgdata/PG_VERSION ${farm.dataDir}/pgdata/*.conf 2>/dev/null`,
    `find / -xdev \\( -name farm.key -o -name secrets.key -o -name server.lock \\) 2>/dev/null | head`,
    // Other processes: their environment, memory, files, descriptors.
    "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
    "for p in /proc/[0-9]*; do case $p in /proc/$$|/proc/self) ;; *) head -c 100 $p/mem 2>/dev/null; esac; done",
    `for p in /proc/[0-9]*; do cat $p/root${farm.dataDir}/*.key $p/cwd/*.key $p/root/grange/secrets/* 2>/dev/null; done`,
    "for f in /proc/[0-9]*/fd/*; do case $f in /proc/self/*|/proc/$$/*) ;; *) timeout 0.05 head -c 4096 $f 2>/dev/null; esac; done </dev/null",
    // What is kept for the farm's own programs.
    `ls ${farm.dataDir}/pgdata/*.s.PGSQL* /tmp/.s.PGSQL* /run/postgresql 2>/dev/null`,
    "cat /grange/secrets/* ~/.grange/* /root/.* /home/*/.ssh/* /etc/shadow 2>/dev/null",
    "dmesg 2>/dev/null | tail -5; cat /proc/kcore 2>/dev/null | head -c 10",
    'env; echo "[$GRANGE_SECRETS$GRANGE_TOKEN]"',
  ];

  const built = await build({
    looks: { commands: trying([...looked, "echo looked everywhere"]), inputs: [] },
    names: { commands: "cat $GRANGE_SECRETS/*", inputs: [], secrets: "RELEASE_KEY" },
  });

  expect(await built.run("looks")).toMatchObject({ outcome: "succeeded" });
  const found = await built.printed("looks");
  expect(found).toContain("looked everywhere");
  for (const secret of [...keys.flatMap((key) => key.trim().split("\n")), token, othersSecret])
    expect(found).not.toContain(secret);
  expect(found).not.toContain(inTheEnvironment);
  expect(found).toContain("[]");
  expect(found).not.toMatch(/farm\.key|secrets\.key|server\.lock/);
  expect((await built.run("names")).message).toContain("RELEASE_KEY is not available");
});
