import { readFile } from "node:fs/promises";
import { outputOf } from "../run-program.ts";
import { type Check, ok, warn } from "./check.ts";

/** Checks the conditions for repeatable measurements. A farm that does not measure needs none of them. */
export function measuringChecks(): Check[] {
  return [
    {
      name: "hardware counters",
      needs: "The processor's counters can be read",
      fix: "Allow it: sysctl kernel.perf_event_paranoid=1. Without counters, valgrind counts instructions, 20 to 50 times slower",
      async run() {
        const counters = await read("/sys/bus/event_source/devices/cpu/type");
        const paranoid = Number(await read("/proc/sys/kernel/perf_event_paranoid"));
        if (counters === undefined) {
          return warn(
            "this machine has none (is it virtual?)",
            "valgrind counts instructions instead, 20 to 50 times slower",
          );
        }
        return paranoid <= 1 || process.getuid?.() === 0
          ? ok("instructions can be counted")
          : warn(`perf_event_paranoid is ${paranoid}`);
      },
    },
    {
      name: "valgrind",
      needs: "valgrind is installed, which counts instructions without hardware counters",
      fix: "Install it: apt-get install valgrind",
      async run() {
        try {
          return ok((await outputOf("valgrind", ["--version"])).trim());
        } catch {
          return warn("not installed");
        }
      },
    },
    {
      name: "frequency governor",
      needs: "The frequency of the processor is fixed",
      fix: "The frequency changes measured times. Fix it: cpupower frequency-set -g performance",
      async run() {
        const governor = await read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        if (governor === undefined) return ok("this machine does not let it be controlled");
        return governor === "performance" ? ok(governor) : warn(governor);
      },
    },
    {
      name: "turbo",
      needs: "Turbo is off",
      fix: "The temperature changes measured times. Disable turbo: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
      async run() {
        const noTurbo = await read("/sys/devices/system/cpu/intel_pstate/no_turbo");
        const boost = await read("/sys/devices/system/cpu/cpufreq/boost");
        return noTurbo === "0" || boost === "1"
          ? warn("on")
          : ok(
              noTurbo === "1" || boost === "0"
                ? "off"
                : "this machine does not let it be controlled",
            );
      },
    },
    {
      name: "address randomisation",
      needs: "Information: whether addresses of processes are randomised",
      fix: "Nothing: a collector turns it off for measured processes",
      async run() {
        const value = await read("/proc/sys/kernel/randomize_va_space");
        return value === "0" || value === undefined
          ? ok(value === undefined ? "not known" : "off")
          : ok("on; a collector turns it off for measured processes");
      },
    },
    {
      name: "simultaneous multithreading",
      needs: "Simultaneous multithreading is off",
      fix: "Threads of one core slow each other. Disable it: echo off > /sys/devices/system/cpu/smt/control",
      async run() {
        return (await read("/sys/devices/system/cpu/smt/active")) === "1"
          ? warn("on")
          : ok("off, or not available");
      },
    },
  ];
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}
