import type { Metric } from "#core/benchmark-metric.ts";
import { numberText } from "../../parts/number-text.ts";

const decimal = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** Four digits are more than any verdict needs; counts are shown completely, because one more is a change. */
export function valueText(value: number, unit: Metric["unit"]): string {
  switch (unit) {
    case "count":
      return Math.abs(value) < 1e9 && Number.isInteger(value)
        ? numberText(value)
        : scaled(value, "");
    case "instructions":
      return scaled(value, "");
    case "bytes":
      return scaled(value, "B");
    case "per-second":
      return scaled(value, "/s");
    case "seconds":
      return secondsText(value);
  }
}

function scaled(value: number, unit: string): string {
  const [size, prefix] = decimal.find(([each]) => Math.abs(value) >= each) ?? [1, ""];
  return `${digits(value / size)} ${prefix}${unit}`.trim();
}

function secondsText(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 1 || size === 0) return `${digits(seconds)} s`;
  if (size >= 1e-3) return `${digits(seconds * 1e3)} ms`;
  return size >= 1e-6 ? `${digits(seconds * 1e6)} µs` : `${digits(seconds * 1e9)} ns`;
}

function digits(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** Returns a relative change with its sign; null for a change from zero. */
export function changeText(change: number | null): string {
  if (change === null) return "from 0";
  return `${change > 0 ? "+" : change < 0 ? "−" : ""}${percentText(Math.abs(change))}`;
}

/** Returns a fraction without a sign; small ones are never rounded to zero. */
export function percentText(part: number): string {
  const percent = part * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.01) return `${percent.toLocaleString("en", { maximumSignificantDigits: 1 })} %`;
  if (percent >= 1_000) return `${numberText(Math.round(percent))} %`;
  return `${percent.toFixed(percent >= 100 ? 0 : percent >= 10 ? 1 : 2)} %`;
}

/** 1 very small … 5 very large, as reports name them. */
export const magnitudeWords = ["", "very small", "small", "medium", "large", "very large"] as const;

/** Whether an increase of a figure is worse. */
export function isWorse(change: number | null, better: Metric["better"]): boolean {
  return better === "lower" ? change === null || change > 0 : change !== null && change < 0;
}
