import type { GrantRule } from "./access.ts";

type Narrowing = Pick<GrantRule, "pool" | "label" | "sizeClassCap" | "costCap">;

/** Returns the rarely used limits of a grant, each in words. Names in them are as their authors wrote them. */
export function narrowingWords({ pool, label, sizeClassCap, costCap }: Narrowing): string[] {
  return [
    ...(pool === undefined ? [] : [`pool ${pool}`]),
    ...(label === undefined ? [] : [`label ${label}`]),
    ...(sizeClassCap === undefined ? [] : [`size class ≤ ${sizeClassCap}`]),
    ...(costCap === undefined ? [] : [`≤ ${costCap} min`]),
  ];
}

/** Returns all limits of a grant, each in words. */
export function limitWords(grant: Narrowing & Pick<GrantRule, "priorityCap" | "top">): string[] {
  const { priorityCap, top } = grant;
  return [
    ...(priorityCap === null ? [] : [`priority ≤ ${priorityCap}`]),
    ...narrowingWords(grant),
    ...(top ? ["with the top class"] : []),
  ];
}
