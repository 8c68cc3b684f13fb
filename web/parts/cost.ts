import { numberText } from "./number-text.ts";
/** Formats a cost in the farm's unit with its significant digits. */
export function costText(cost: number): string {
  const size = Math.abs(cost);
  if (size === 0) return "0";
  if (size >= 99.95) return numberText(Math.round(cost));
  if (size >= 9.995) return cost.toFixed(1);
  return size >= 0.01 ? cost.toFixed(2) : cost.toExponential(0);
}

/** Formats a risk or a share from 0 to 1: never rounded to 0 or 1. */
export function riskText(risk: number): string {
  if (risk === 0 || risk === 1) return `${risk * 100} %`;
  if (risk < 0.01) return "< 1 %";
  return risk > 0.99 ? "> 99 %" : `${Math.round(risk * 100)} %`;
}
