import assert from "node:assert/strict";
import { processesWith } from "../support/processes-with.ts";
import { type ForkCase, fresh, random, refused, tries } from "./fork-target.ts";

/** Attempts to read data without permission. */
export const forkReads: readonly ForkCase[] = [
  refused("names a secret", { a: { commands: "x", inputs: [], secrets: "MAINS" } }, /secrets/),
  {
    name: "names a secret where the policy did not look: the run is refused all the same",
    async run({ onPull, run }) {
      const jobs = fresh("cat $GRANGE_SECRETS/* > out", { secrets: "MAINS" });
      const { outcome, message } = await run(await onPull(jobs, { rules: false }));
      assert.equal(outcome, "failed");
      assert.match(message ?? "", /MAINS is never available to a pull request/);
    },
  },
  refused(
    "writes by itself what the farm writes of secrets",
    { a: { commands: "x", inputs: [], platform: { "grange-secrets": "MAINS@1.1" } } },
    /only the farm sets this property/,
  ),
  {
    name: "looks for the secret of a run of main beside it",
    async run({ farm, onMain, onPull, run }) {
      const holds = await onMain(
        fresh(["cat $GRANGE_SECRETS/MAINS | wc -c", "sleep 3", random], { secrets: "MAINS" }),
      );
      await farm.untilLogged(holds, "a", "sleep");
      const looks = await onPull(
        fresh([
          "set +eu",
          "for p in /proc/[0-9]*; do cat $p/root/grange/secrets/* $p/environ $p/cwd/../secrets/* 2>/dev/null; done | tr -d '\\0' > out",
          "cat /grange/secrets/* /dev/shm/* /tmp/* >> out 2>/dev/null; cat out; :",
        ]),
      );
      assert.equal((await run(looks)).outcome, "succeeded");
      assert.doesNotMatch(await farm.log(looks, "a"), /what-only-main/);
      assert.equal((await run(holds)).outcome, "succeeded");
    },
  },
  tries(
    "reads the environments of everybody",
    "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; env",
    /GRANGE_(WORKER_)?TOKEN|grange_[A-Za-z0-9_-]{43}|what-only-main/,
  ),
  tries(
    "looks for the farm's keys and data",
    "find / -xdev \\( -name farm.key -o -name secrets.key -o -name pgdata -o -name PG_VERSION -path '*pgdata*' \\) 2>/dev/null",
    /\.key|pgdata/,
  ),
];

/** Attempts to affect processes outside of the run. */
export const forkReaches: readonly ForkCase[] = [
  refused("asks for the network", { a: { commands: "x", network: true } }, /network/),
  tries(
    "asks the cloud for its machine's identity",
    'for a in 169.254.169.254 100.100.100.200; do timeout 2 bash -c "exec 3<>/dev/tcp/$a/80" 2>/dev/null && echo REACHED; done',
    /REACHED/,
  ),
  {
    name: "calls the farm's own API",
    async run(fork) {
      const port = new URL(fork.farm.url).port;
      const call = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo REACHED`;
      await tries("", call, /REACHED/).run(fork);
    },
  },
  tries(
    "calls services of the machine by sockets without a file",
    `node -e 'const n=require("net");for(const p of ["\\0/tmp/.X11-unix/X0","\\0/containerd-shim","/var/run/docker.sock","/run/dbus/system_bus_socket"])n.connect(p).on("connect",()=>console.log("REACHED")).on("error",()=>{})'`,
    /REACHED/,
  ),
];

const left = `86401.${process.pid}`;
/** Attempts to leave data for later or parallel runs. */
export const forkStays: readonly ForkCase[] = [
  {
    name: "leaves a process behind",
    async run(fork) {
      const leave = `setsid sh -c 'trap "" HUP TERM; sleep ${left}' >/dev/null 2>&1 & (setsid sleep ${left} >/dev/null 2>&1 &) &`;
      await tries("", leave, /never/).run(fork);
      assert.deepEqual(await processesWith(left), []);
    },
  },
  {
    name: "changes its inputs in the worker's store, from which main reads",
    async run(fork) {
      const spoil =
        "chmod -R u+w . 2>/dev/null; echo SPOILED >> source.txt; ln source.txt linked && echo SPOILED >> linked";
      await tries("", spoil, /never/, { inputs: ["source.txt"] }).run(fork);
      const graph = await fork.onMain(
        fresh("cp source.txt out; cat out", { inputs: ["source.txt"] }),
      );
      assert.equal((await fork.run(graph)).outcome, "succeeded");
      assert.doesNotMatch(await fork.farm.log(graph, "a"), /SPOILED/);
    },
  },
  {
    name: "leaves files where main's runs start",
    async run(fork) {
      const places = "/tmp $HOME /dev/shm /var/tmp /usr/local/bin /etc/profile.d";
      await tries("", `for d in ${places}; do echo x > $d/stayed-here; done`, /never/).run(fork);
      const look = `find / -xdev -name stayed-here > out 2>/dev/null; cat out; :`;
      const graph = await fork.onMain(fresh(look));
      await fork.run(graph);
      assert.doesNotMatch(await fork.farm.log(graph, "a"), /^\/.*stayed-here/m);
    },
  },
  {
    name: "kills what runs beside it",
    async run(fork) {
      const beside = await fork.onMain(fresh(["sleep 2", random]));
      await fork.farm.untilLogged(beside, "a", "sleep");
      await tries(
        "",
        "kill -9 -1 2>/dev/null; for p in /proc/[0-9]*; do case $p in /proc/$$) ;; *) kill -9 $(basename $p); esac; done 2>/dev/null",
        /never/,
      )
        .run(fork)
        .catch(() => {});
      const { outcome, attempt } = await fork.run(beside);
      assert.deepEqual({ outcome, attempt }, { outcome: "succeeded", attempt: 1 });
    },
  },
];
