import { z } from "zod";
import {
  SetSizeClassSettings,
  type SizeClassSettingsNow,
  sizeClassSettingNames,
} from "#api/size-class.ts";
import { durationText } from "#core/duration-text.ts";
import { parseDuration } from "#definitions/duration.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Returns the change that `--set name=value` requests. The value `usual` removes a setting; times may be written `10s`.
 */
export function settingsChange(written: readonly string[]): SetSizeClassSettings {
  const change: Record<string, unknown> = {};
  for (const each of written) {
    const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(each) ?? [];
    const known = sizeClassSettingNames.find((setting) => setting === camelCase(name));
    if (known === undefined) {
      throw new UsageError(
        `${name === "" ? `"${each}" is not written NAME=VALUE` : `there is no setting "${name}"`}; there are ${sizeClassSettingNames.join(", ")}`,
      );
    }
    change[known] = valueOf(known, value);
  }
  const parsed = SetSizeClassSettings.safeParse(change);
  if (!parsed.success) throw new UsageError(z.prettifyError(parsed.error));
  return parsed.data;
}

/** Returns the name in the API: `price-of-delay` is `priceOfDelay`. */
function camelCase(name: string): string {
  return name.trim().replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function valueOf(name: string, text: string): unknown {
  if (text === "usual") return null;
  if (text === "true" || text === "yes") return true;
  if (text === "false" || text === "no") return false;
  const number = Number(text);
  if (Number.isFinite(number)) return number;
  return (name.endsWith("Ms") ? parseDuration(text) : undefined) ?? text;
}

export function settingsLines(now: SizeClassSettingsNow): string[] {
  const { changedAt, changedBy, settings, usual } = now;
  const text = (name: string, value: unknown) =>
    name.endsWith("Ms") && typeof value === "number" ? durationText(value) : String(value);
  return [
    ...tableLines(
      sizeClassSettingNames.map((name) => [
        name,
        text(name, settings[name]),
        settings[name] === usual[name] ? "" : `usually ${text(name, usual[name])}`,
      ]),
    ),
    changedBy === null || changedAt === null
      ? "All settings have their default values."
      : `Changed by ${printableLine(changedBy)}, ${timeText(changedAt)}.`,
  ];
}
