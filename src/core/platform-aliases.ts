import type { Platform } from "./platform.ts";

/** A property of actions that an operator gives the meaning of another one. */
export interface PlatformAlias {
  readonly name: string;
  /** Absent: any value, which is kept. */
  readonly value?: string;
  readonly meant: { readonly name: string; readonly value?: string };
}

/**
 * Parses a list such as `Arch:amd64=ISA:x86-64, machine=Pool`: a property, with or without a value, and what it means.
 *
 * Throws an error for an entry of another form.
 */
export function parsePlatformAliases(text: string): readonly PlatformAlias[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [left, right, ...more] = entry.split("=").map((side) => side.trim());
      const from = property(left);
      const to = property(right);
      const isWhole = from !== undefined && to !== undefined && more.length === 0;
      if (!isWhole || (from.value === undefined) !== (to.value === undefined))
        throw new Error(
          `"${entry}" is no alias of a platform property: write NAME=NAME, or NAME:VALUE=NAME:VALUE, such as Arch:amd64=ISA:x86-64`,
        );
      return { ...from, meant: to };
    });
}

/** Returns the requirements of an action under the names that workers offer. A property that the action has itself wins. */
export function withAliases(platform: Platform, aliases: readonly PlatformAlias[]): Platform {
  const entries = Object.entries(platform).map(([name, value]): [string, string] => {
    const alias = aliases.find(
      (each) => each.name === name && (each.value === undefined || each.value === value),
    );
    return alias === undefined ? [name, value] : [alias.meant.name, alias.meant.value ?? value];
  });
  const own = Object.entries(platform).filter(
    ([name]) => !aliases.some((alias) => alias.name === name),
  );
  return Object.fromEntries([...entries, ...own]);
}

function property(side: string | undefined): { name: string; value?: string } | undefined {
  const [, name = "", value] = /^([^:]+)(?::(.+))?$/.exec(side ?? "") ?? [];
  if (name === "") return undefined;
  return value === undefined ? { name } : { name, value };
}
