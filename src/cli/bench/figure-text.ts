import type { MetricUnit } from "#core/benchmark-metric.ts";
import type { TestCase } from "#core/test-case.ts";

const steps = ["", " k", " M", " G", " T"];

/** Formats a figure for people: four digits, and its unit. */
export function figureText(value: number, unit: MetricUnit): string {
  switch (unit) {
    case "seconds":
      if (value === 0) return "0 s";
      return value < 1 ? `${(value * 1_000).toPrecision(3)} ms` : `${value.toFixed(2)} s`;
    case "bytes":
      return scaled(
        value,
        1_024,
        ["B", "KiB", "MiB", "GiB", "TiB"].map((unit) => ` ${unit}`),
      );
    case "per-second":
      return `${scaled(value, 1_000, steps)}/s`;
    case "instructions":
      return scaled(value, 1_000, steps);
    case "count":
      return Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(4);
  }
}

function scaled(value: number, base: number, units: readonly string[]): string {
  let [left, step] = [value, 0];
  while (Math.abs(left) >= base && step < units.length - 1) {
    left /= base;
    step++;
  }
  const digits = step === 0 ? (Number.isInteger(left) ? 0 : 2) : left < 100 ? 2 : 1;
  return `${left.toFixed(digits)}${units[step] ?? ""}`;
}

/** Formats `+1.23 %`; null for a change from zero. */
export function changeText(change: number | null): string {
  if (change === null) return "from 0";
  const percent = change * 100;
  const digits = Math.abs(percent) < 1 ? 2 : Math.abs(percent) < 100 ? 1 : 0;
  return percent === 0 ? "0 %" : `${percent > 0 ? "+" : ""}${percent.toFixed(digits)} %`;
}

export function caseText({ section, benchmark, profile, scenario, backend }: TestCase): string {
  const parts = section === "compile" ? [benchmark] : [section, benchmark];
  return [...parts, profile, scenario, backend].filter((part) => part !== "").join(" ");
}
