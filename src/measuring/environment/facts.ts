import { createHash } from "node:crypto";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { canonicalJson } from "#core/canonical-json.ts";
import type { MeasuringTools } from "../processes/tools.ts";
import { read } from "./cpu-time.ts";

/**
 * Facts about the machine and the measuring programs that may affect a figure: a value for each name. They contain
 * neither load nor time.
 */
export type EnvironmentFacts = Record<string, string>;

/** Figures are compared only with equal fingerprints. */
export function fingerprintOf(facts: EnvironmentFacts): string {
  return createHash("sha256").update(canonicalJson(facts)).digest("hex");
}

/** Read again each time, because governors and kernels may change while a collector runs for months. */
export function environmentFacts(tools: MeasuringTools): EnvironmentFacts {
  const cpuInfo = read("/proc/cpuinfo");
  const field = (name: string) => valueIn(cpuInfo, name);
  const facts: Record<string, string | undefined> = {
    platform: `${platform()}-${arch()}`,
    kernel: release(),
    // The hypervisor chooses the CPU's name; family and model are those of the hardware.
    cpu: [
      field("model name") ?? cpus()[0]?.model,
      field("cpu family"),
      field("model"),
      field("stepping"),
    ]
      .filter((each) => each !== undefined)
      .join(" / "),
    cpus: `${cpus().length}`,
    microcode: field("microcode"),
    smt: read("/sys/devices/system/cpu/smt/control").trim(),
    governor: distinct(cpus().map((_, i) => cpuFrequency(i, "scaling_governor"))),
    turbo: turbo(),
    aslr: read("/proc/sys/kernel/randomize_va_space").trim(),
    "transparent-hugepages": chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    hypervisor: hypervisor(field("flags")),
    libc: libcVersion(),
    node: process.version,
    counter: tools.counters.map(({ version }) => version).join(", ") || "none",
    meter: tools.meter?.name ?? "none",
    sandbox: tools.sandbox.kind,
    "fixed-addresses": tools.fixedLayout.length > 0 ? "yes" : "no",
  };
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, (value || "unknown").slice(0, 500)]),
  );
}

function valueIn(text: string, name: string): string | undefined {
  return new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(text)?.[1]?.trim();
}

function cpuFrequency(cpu: number, name: string): string {
  return read(`/sys/devices/system/cpu/cpu${cpu}/cpufreq/${name}`).trim();
}

function distinct(values: readonly string[]): string {
  return [...new Set(values.filter((value) => value !== ""))].toSorted().join(", ");
}

/** Intel's driver reports when turbo is off, other drivers when it is on. */
function turbo(): string {
  const off = read("/sys/devices/system/cpu/intel_pstate/no_turbo").trim();
  if (off !== "") return off === "1" ? "off" : "on";
  const on = read("/sys/devices/system/cpu/cpufreq/boost").trim();
  return on === "" ? "" : on === "1" ? "on" : "off";
}

/** Returns the word in brackets of a text such as `always [madvise] never`. */
function chosen(text: string): string {
  return /\[(\w+)\]/.exec(text)?.[1] ?? "";
}

function hypervisor(flags: string | undefined): string {
  if (flags === undefined || !/\bhypervisor\b/.test(flags))
    return flags === undefined ? "" : "none";
  const dmi = (name: string) => read(`/sys/class/dmi/id/${name}`).trim();
  return [dmi("sys_vendor"), dmi("product_name")].filter((each) => each !== "").join(" ") || "yes";
}

function libcVersion(): string {
  const header = (process.report.getReport() as { header?: { glibcVersionRuntime?: string } })
    .header;
  return header?.glibcVersionRuntime === undefined ? "" : `glibc ${header.glibcVersionRuntime}`;
}
