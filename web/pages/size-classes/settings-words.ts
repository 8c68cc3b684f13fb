import type {
  SetSizeClassSettings,
  SizeClassSettingName,
  SizeClassSettingValues,
} from "#api/size-class.ts";

/** A setting in the form. */
export interface SettingField {
  readonly name: Exclude<SizeClassSettingName, "strategy" | "greaterMayTake">;
  readonly label: string;
  readonly hint: string;
  /** The strategies that use it. */
  readonly of: readonly SizeClassSettingValues["strategy"][];
  /** The number of the API's units in one displayed unit. */
  readonly unit: number;
}

export const strategyWords: Readonly<Record<SizeClassSettingValues["strategy"], string>> = {
  grange: "the least expected cost of machines and of waiting",
  pagerank: "random, weighted by success on each class, as in Buildbarn",
  adr: "random, weighted by how much longer small classes took, as in Buildbarn’s ADR 7",
  smallest: "always the smallest that may run it",
  largest: "always the largest",
};

export const settingFields: readonly SettingField[] = [
  {
    name: "priceOfDelay",
    label: "Price of an hour’s delay",
    hint: "in slot hours of size class 1: a higher price makes builds faster, a lower price makes them cheaper",
    of: ["grange"],
    unit: 1,
  },
  {
    name: "acceptableIncreaseExponent",
    label: "Acceptable increase",
    hint: "an exponent from 0 to 1: how much longer a smaller class may take",
    of: ["adr", "pagerank"],
    unit: 1,
  },
  {
    name: "timeoutMultiplier",
    label: "Timeout multiplier",
    hint: "of the acceptable time, 1 or more",
    of: ["adr"],
    unit: 1,
  },
  {
    name: "minimumAcceptableMs",
    label: "Always acceptable, in seconds",
    hint: "a time up to this is never too slow",
    of: ["adr", "pagerank"],
    unit: 1_000,
  },
  {
    name: "failureBoostMs",
    label: "After a failure, in hours",
    hint: "for this time, an action that failed on the largest class runs only there",
    of: ["adr", "pagerank"],
    unit: 3_600_000,
  },
  {
    name: "convergenceError",
    label: "Convergence error",
    hint: "at which the power iteration ends",
    of: ["pagerank"],
    unit: 1,
  },
  {
    name: "mostBackgroundRuns",
    label: "Background runs that may wait",
    hint: "for each class",
    of: ["pagerank"],
    unit: 1,
  },
];

export type SettingsForm = Readonly<Record<SettingField["name"], string>> & {
  readonly strategy: SizeClassSettingValues["strategy"];
  readonly greaterMayTake: boolean;
};

export function formOf(settings: SizeClassSettingValues): SettingsForm {
  const texts = settingFields.map(({ name, unit }) => [name, String(settings[name] / unit)]);
  return {
    ...(Object.fromEntries(texts) as Record<SettingField["name"], string>),
    strategy: settings.strategy,
    greaterMayTake: settings.greaterMayTake,
  };
}

/**
 * Returns the changed settings of the form; an empty field means the default. A message when a value is not a number.
 */
export function changeOf(
  form: SettingsForm,
  now: SizeClassSettingValues,
): SetSizeClassSettings | string {
  const before = formOf(now);
  const change: Record<string, unknown> = {};
  if (form.strategy !== now.strategy) change.strategy = form.strategy;
  if (form.greaterMayTake !== now.greaterMayTake) change.greaterMayTake = form.greaterMayTake;
  for (const { name, label, unit } of settingFields) {
    const text = form[name].trim();
    if (text === before[name]) continue;
    const value = Number(text);
    if (text !== "" && !Number.isFinite(value)) return `${label} must be a number, not “${text}”.`;
    change[name] = text === "" ? null : value * unit;
  }
  return change as SetSizeClassSettings;
}
