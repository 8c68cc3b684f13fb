import { expect, test } from "vitest";
import { skipWithout } from "../support/needs/needs.ts";
import { hostileBuilds, trying } from "./hostile-builds.ts";

// SLSA 1.2, Build L3, "Isolated": two builds that overlap in time cannot influence one another.

const builds = hostileBuilds({ workers: 1 });

/** Watches everything that others could change, while the other one runs. */
const victim = {
  commands: [
    "echo untouched > /tmp/mine; echo untouched > $HOME/mine; echo untouched > /dev/shm/mine; echo untouched > mine",
    "sleep 400 & echo $! > /tmp/child",
    "ulimit -a > /tmp/limits; echo began",
    "i=0; while [ $i -lt 40 ]; do sleep 0.1; i=$((i+1)); done",
    "kill -0 $(cat /tmp/child) && echo alive >> /tmp/mine; kill $(cat /tmp/child)",
    "cat source.txt /tmp/mine $HOME/mine /dev/shm/mine mine > out",
    "ls -A /tmp $HOME /dev/shm >> out",
    "cat /proc/sys/kernel/hostname >> out; ulimit -a | cmp - /tmp/limits && echo same limits >> out",
  ],
  outputs: ["out"],
};

const attacker = {
  commands: trying([
    // Kills the processes of all others.
    "for p in /proc/[0-9]*; do n=${p#/proc/}; case $n in $$|$PPID|1) ;; *) kill -9 $n 2>/dev/null; esac; done; kill -9 -1 2>/dev/null || :",
    "for p in /proc/[0-9]*; do for f in root/tmp/mine root/dev/shm/mine cwd/mine root/grange/work/source.txt; do (echo TOUCHED >> $p/$f) 2>/dev/null || :; done; done",
    // Resources that are shared by name.
    "for d in /tmp /dev/shm $HOME /var/tmp /run; do (echo TOUCHED > $d/mine) 2>/dev/null || :; done; echo TOUCHED > mine",
    "hostname TOUCHED 2>/dev/null || :; (ulimit -n 64) || :; renice 19 -p 1 2>/dev/null || :",
    "for f in /proc/sys/kernel/hostname /sys/fs/cgroup/*/cgroup.procs /proc/sysrq-trigger /sys/fs/cgroup/cgroup.kill; do (echo 0 > $f) 2>/dev/null || :; done",
    // Its input, which both read from one store.
    "chmod u+w source.txt 2>/dev/null; echo TOUCHED >> source.txt || :",
    // Resources of the machine: memory, descriptors, processes, log.
    "i=0; while [ $i -lt 60 ]; do (head -c 4000000 /dev/zero | tail -c 1 >/dev/null; sleep 1) & i=$((i+1)); done; yes TOUCHED | head -c 3000000 > /dev/stdout",
    "wait; echo attacked",
  ]),
};

test("a build has the same outputs beside an attacker as alone", async (context) => {
  const { farm, begin, ended, build, sandboxNeed } = builds.current;
  skipWithout(context, sandboxNeed);
  const alone = await (await build({ victim })).output("victim", "out");

  // Both on the only worker with its two slots. The changed environment makes it a new action.
  const beside = await begin({ victim: { ...victim, environment: { BESIDE: "1" } } });
  await farm.untilLogged(beside, "victim", "began");
  const attack = await begin({ attacker });
  const [one, other] = await Promise.all([ended(beside), ended(attack)]);

  const [ran, attacked] = [await one.run("victim"), await other.run("attacker")];
  expect(ran).toMatchObject({ outcome: "succeeded", attempt: 1 });
  expect(await one.output("victim", "out")).toBe(alone);
  expect(Number(new Date(attacked.startedAt ?? 0))).toBeLessThan(
    Number(new Date(ran.finishedAt ?? 0)),
  );
  expect(await one.printed("victim")).not.toContain("TOUCHED");
});
