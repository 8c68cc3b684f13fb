import type { EnvironmentFacts } from "./facts.ts";

/** One cause of variation on this machine, and a remedy. */
export interface Advice {
  readonly about: string;
  readonly what: string;
  readonly help: string;
}

/** Returns what to change on a measuring machine, in the order of the benefit. Pure. */
export function adviceFor(facts: EnvironmentFacts, notes: readonly string[]): Advice[] {
  const advice: Advice[] = [];
  const add = (about: string, what: string, help: string) => advice.push({ about, what, help });
  if (facts["counter"] === "none") {
    add(
      "counter",
      "instructions cannot be counted",
      "install valgrind, or perf where the CPU's counters can be read",
    );
  } else if (!facts["counter"]?.includes("perf")) {
    add(
      "counter",
      "no hardware counters: instructions are counted by simulation, some thirty times slower than the program",
      "on a virtual machine, enable a virtual PMU; otherwise install perf, and set kernel.perf_event_paranoid to 2 or less",
    );
  }
  if (facts["hypervisor"] !== "none" && facts["hypervisor"] !== "unknown") {
    add(
      "hypervisor",
      "a virtual machine: other virtual machines influence its times",
      "decide by instructions and exact counts, or measure on hardware of your own",
    );
  }
  if (facts["governor"] !== "unknown" && facts["governor"] !== "performance") {
    add(
      "governor",
      `the CPU's governor is ${facts["governor"]}`,
      "cpupower frequency-set --governor performance",
    );
  }
  if (facts["turbo"] === "on") {
    add(
      "turbo",
      "the CPU runs faster while it is cool",
      "echo 0 > /sys/devices/system/cpu/cpufreq/boost, or echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
    );
  }
  if (facts["smt"] === "on") {
    add("smt", "two threads share a core", "echo off > /sys/devices/system/cpu/smt/control");
  }
  if (facts["aslr"] !== "0" && facts["fixed-addresses"] === "no") {
    add(
      "addresses",
      "addresses of memory differ in each process, also in processes whose instructions are counted",
      "allow `setarch -R` (in containers, seccomp forbids it), or set sysctl kernel.randomize_va_space=0",
    );
  }
  if (facts["sandbox"] === "none") {
    add("sandbox", "measured programs run as your user, with the network", "install bubblewrap");
  }
  for (const note of notes) {
    if (!advice.some(({ about }) => note.includes(about))) add("missing", note, "");
  }
  return advice;
}
