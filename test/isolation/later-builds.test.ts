import { expect, test } from "vitest";
import { skipWithout } from "../support/needs/needs.ts";
import { processesWith } from "../support/processes-with.ts";
import { hostileBuilds, trying } from "./hostile-builds.ts";

// SLSA 1.2, Build L3, "Isolated": a build cannot persist in, or influence, the environment of a later one, nor put
// false entries into a cache that another one uses: the outputs are the same with the cache and without.

const sleeps = `86399.${process.pid}`;
const builds = hostileBuilds({ workers: 1 });

const places =
  "/tmp $HOME /dev/shm /var/tmp /usr/local/bin /etc/profile.d /etc/cron.d /grange /root /opt .";

const stays = {
  commands: trying([
    // Files in all directories that it may write to, and where other programs start.
    `for d in ${places}; do (echo 'echo STAYED' > $d/stayed) 2>/dev/null || :; done`,
    "for f in $HOME/.profile $HOME/.bashrc $HOME/.gitconfig /etc/profile /bin/sh /usr/bin/env; do (echo 'echo STAYED' >> $f) 2>/dev/null || :; done",
    // Processes that leave their group and their session.
    `setsid sh -c 'trap "" HUP TERM; sleep ${sleeps}' >/dev/null 2>&1 & (setsid setsid sleep ${sleeps} >/dev/null 2>&1 &) &`,
    // Its input in the worker's store: it is written to through a link, after its permissions are
    // changed.
    "chmod -R u+w . 2>/dev/null; echo STAYED >> source.txt; ln source.txt linked 2>/dev/null && echo STAYED >> linked || :",
    "mkdir -p made && cp source.txt made/out && ln made/out /tmp/out; (sleep 0.3; echo STAYED >> /tmp/out) & :",
    // Mounts over directories that others use.
    "unshare -rm sh -c 'mount -t tmpfs none /usr/local/bin' 2>/dev/null || :; mount -t tmpfs none /tmp 2>/dev/null || :",
    "echo did all",
  ]),
  outputs: ["made"],
};
const later = {
  commands: trying([
    `seen=$(ls -A ${places} 2>/dev/null | grep -v "^grange-" | sort); echo "$seen" > seen; find / -xdev -name stayed 2>/dev/null >> seen || :`,
    "sh -lc : >> seen 2>&1; bash -ic : </dev/null >> seen 2>/dev/null || :; cat $HOME/.profile $HOME/.bashrc >> seen 2>/dev/null || :",
    "cat source.txt > out; mount | grep -c tmpfs >> seen; cat seen",
  ]),
  outputs: ["out", "seen"],
};

test("the next build sees neither the files of a build nor its changes of the inputs", async (context) => {
  const { farm, build, sandboxNeed } = builds.current;
  skipWithout(context, sandboxNeed);
  const before = await build({ later });
  const hostile = await build({ stays });
  expect(await hostile.run("stays")).toMatchObject({ outcome: "succeeded" });
  expect(await processesWith(sleeps)).toEqual([]);

  const after = await build({ later }, { skipCache: true });
  const cached = await build({ later });
  // Another machine, with an empty store.
  const elsewhere = await farm.startWorker({
    name: "elsewhere",
    dataDir: `${farm.dataDir}-elsewhere`,
    platform: { place: "elsewhere" },
  });
  const fresh = await build({ later: { ...later, platform: { place: "elsewhere" } } });
  await elsewhere.stop();

  expect(await after.printed("later")).toBe(await before.printed("later"));
  for (const path of ["out", "seen"]) {
    const digest = await before.output("later", path);
    expect(await after.output("later", path)).toBe(digest);
    expect(await cached.output("later", path)).toBe(digest);
    expect(await fresh.output("later", path)).toBe(digest);
  }
  expect(await cached.run("later")).toMatchObject({ worker: null });
  expect(await after.printed("later")).not.toContain("STAYED");
});
